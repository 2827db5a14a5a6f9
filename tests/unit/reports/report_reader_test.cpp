// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report_reader.hpp"

#include <gtest/gtest.h>

#include "tests/support/matchers.hpp"
#include "tests/unit/reports/example_report.hpp"
#include "tools/reports/report_csv.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_markdown.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

using test::must;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// What is said of the example with `from` replaced.
std::string refusal(const std::string& from, const std::string& to) {
  const auto report = read_report(replaced(to_json(full_report()), from, to));
  return report ? "read" : report.error().context;
}

TEST(ReportReader, GivesTheSameBytesAgain) {
  const std::string json = to_json(full_report());
  const auto report = must(read_report(json));
  EXPECT_EQ(to_json(report), json);
}

TEST(ReportReader, GivesTheSameTextAgain) {
  const auto report = must(read_report(to_json(full_report())));
  EXPECT_EQ(to_text(report), to_text(full_report()));
}

TEST(ReportReader, ReadsTheEmptyReport) {
  const auto report = must(read_report(to_json(Report{})));
  EXPECT_EQ(to_json(report), to_json(Report{}));
}

TEST(ReportReader, KeepsSectionsThatItDoesNotKnow) {
  const auto report = must(read_report(to_json(full_report())));
  ASSERT_EQ(report.sections().size(), 1U);
  EXPECT_EQ(report.sections()[0].name, "durations");
  EXPECT_EQ(report.sections()[0].json, "{\"odd\":  [1.50, \"}\\\"\", {}]}");
}

TEST(ReportReader, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal("npusim.report/3", "npusim.report/4"),
            "schema: found 'npusim.report/4'; this npusim reads 'npusim.report/3'");
  EXPECT_EQ(refusal("\"outcome\": \"complete\",", ""), "outcome: missing");
  EXPECT_EQ(refusal("\"seed\": 18446744073709551615", "\"seed\": -1"),
            "seed: found -1; allowed: 0..18446744073709551615");
  EXPECT_EQ(refusal("\"value\": 1150.991", "\"value\": \"1\""),
            "metrics[0].value: found '1'; allowed: a decimal number of at most 9 decimals and 18 "
            "digits");
  EXPECT_EQ(refusal("\"ps\": 150001", "\"ps\": 1.5"),
            "breakdowns[0].parts[0].ps: found 1.5; allowed: picoseconds, 0..9223372036854775807");
  EXPECT_EQ(refusal("\"notes\": [", "\"notes\": [3, "), "notes[0]: found 3; allowed: a string");
  EXPECT_EQ(refusal("\"label\": ", "\"lable\": 1, \"label\": "),
            "breakdowns[0].lable: no report has that");
  EXPECT_EQ(refusal("\"programs\": [", "\"workload\": \"again\", \"programs\": ["),
            "'workload' is there twice");
  EXPECT_EQ(refusal("\"polling\"", "{}"),
            "parameters.policy: found an object; allowed: numbers, true, false or strings, all of "
            "one kind");
}

TEST(ReportReader, SaysWhereTheJsonEnds) {
  const std::string json = to_json(full_report());
  EXPECT_EQ(read_report(json.substr(0, 50)).error().context, "no JSON: it ends in the middle");
  EXPECT_EQ(read_report("").error().context, "no JSON: it ends in the middle");
  EXPECT_EQ(read_report("{\n  nothing").error().context, "no JSON: line 2, column 4");
  EXPECT_EQ(read_report("[]").error().context, "found an array; allowed: a report");
  EXPECT_EQ(read_report("{}").error().context, "no report: schema is missing");
}

TEST(ReportReader, RefusesWhatIsNestedWithoutEnd) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(read_report(deep).error().context, "nested deeper than 64");
}

TEST(ReportReader, RefusesPartsWhoseSumNoTimeHolds) {
  EXPECT_EQ(refusal("\"ps\": 150001", "\"ps\": 9223372036854775807"),
            "breakdowns[0].parts: add up to more than 106 days");
}

TEST(ReportReader, NamesTheFileThatCannotBeRead) {
  EXPECT_EQ(load_report("/no/such/report.json").error().context,
            "/no/such/report.json: cannot be read: No such file or directory");
  EXPECT_EQ(load_report("/").error().context, "/: cannot be read: Is a directory");
}

// Whatever a damaged file reads as can be shown in every form.
void show(const std::string& json) {
  const auto report = read_report(json);
  if (!report) {
    EXPECT_FALSE(report.error().context.empty());
    EXPECT_EQ(report.error().context.find('\n'), std::string::npos);
    return;
  }
  EXPECT_FALSE(to_text(*report).empty());
  EXPECT_FALSE(to_markdown(*report).empty());
  EXPECT_FALSE(to_csv(*report).empty());
  EXPECT_TRUE(read_report(to_json(*report)));
}

TEST(ReportReader, SurvivesEveryTruncation) {
  const std::string json = to_json(full_report());
  for (std::size_t size = 0; size + 2 < json.size(); ++size) {
    EXPECT_FALSE(read_report(json.substr(0, size))) << size;
  }
}

TEST(ReportReader, SurvivesEveryByteChanged) {
  const std::string json = to_json(full_report());
  for (std::size_t at = 0; at < json.size(); ++at) {
    for (const char to : {'\0', '"', '{', ']', ',', '9', '-', '\\', '\xFF', ' '}) {
      std::string damaged = json;
      damaged[at] = to;
      show(damaged);
    }
  }
}

TEST(ReportReader, TakesAnObjectOfManyMembers) {
  auto report = full_report();
  for (unsigned i = 0; i < 50'000; ++i) {
    report.configuration.push_back({"key." + std::to_string(i), {"1"}, false, false});
  }
  EXPECT_TRUE(read_report(to_json(report)));
}

}  // namespace
}  // namespace npu::reports
