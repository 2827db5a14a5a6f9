// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report.hpp"
#include "tests/unit/reports/example_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/reports/report_json.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

using testing::HasSubstr;

Report example_report() {
  Report report;
  report.workload = "dma_latency";
  report.config = "910b";
  report.seed = 42;
  report.simulated = Picoseconds(123'456'789);
  report.version = "1.2.3";
  report.parameters = {{"sizes", {"4096", "64"}, false, true},
                       {"policy", {"polling"}, true, false}};
  report.overrides = {{"lanes=8", {"link.lanes", {"8"}, false, false}}};
  add_latency(report, "dma.h2d.4KiB",
              {"h2d",
               "4KiB",
               {{"entry_store", Picoseconds(150'001)},
                {"doorbell", Picoseconds(30'009)},
                {"data", Picoseconds(1'000'990)}}});
  report.add_limit({"dma.h2d.4KiB", "tlp_overhead", Number::scaled(7'200, 3), "7.200 % headers"});
  report.add_note("a \"quoted\" note\n");
  return report;
}

TEST(ReportJson, IsValidAndHasTheSchema) {
  const auto json = nlohmann::json::parse(to_json(example_report()));
  EXPECT_EQ(json["schema"], "npusim.report/3");
  EXPECT_EQ(json["workload"], "dma_latency");
  EXPECT_EQ(json["config"], "910b");
  EXPECT_EQ(json["seed"], 42);
  EXPECT_EQ(json["simulated_ps"], 123'456'789);
  EXPECT_EQ(json["npusim"], "1.2.3");
  EXPECT_EQ(json["parameters"]["policy"], "polling");
  EXPECT_EQ(json["parameters"]["sizes"], nlohmann::json({4096, 64}));
  EXPECT_EQ(json["overrides"][0]["given"], "lanes=8");
  EXPECT_EQ(json["overrides"][0]["key"], "link.lanes");
  EXPECT_EQ(json["overrides"][0]["value"], 8);
  EXPECT_EQ(json["limits"][0]["name"], "tlp_overhead");
  EXPECT_EQ(json["notes"][0], "a \"quoted\" note\n");
}

TEST(ReportJson, PrintsNanosecondsWithThreeDecimals) {
  const auto text = to_json(example_report());
  EXPECT_THAT(text, HasSubstr(R"({"name": "dma.h2d.4KiB.latency_ns", "value": 1181.000, )"));
  EXPECT_THAT(text, HasSubstr(R"("value": 150.001, "unit": "ns"})"));
}

TEST(ReportJson, PrintedPartsAddUpToThePrintedLatency) {
  const auto report = example_report();
  std::int64_t sum = 0;
  for (const auto& metric : report.metrics()) {
    if (metric.name.find(".breakdown.") != std::string::npos) sum += metric.value.value();
  }
  EXPECT_EQ(sum, report.find("dma.h2d.4KiB.latency_ns")->value.value());
}

TEST(ReportJson, KeepsTheOrderOfMembers) {
  const auto text = to_json(example_report());
  EXPECT_LT(text.find("\"schema\""), text.find("\"workload\""));
  EXPECT_LT(text.find("\"sizes\""), text.find("\"policy\""));
  EXPECT_LT(text.find("entry_store_ns"), text.find("doorbell_ns"));
}

TEST(ReportJson, AnEmptyReportIsValid) {
  const auto json = nlohmann::json::parse(to_json(Report{}));
  EXPECT_TRUE(json["metrics"].empty());
  EXPECT_TRUE(json["limits"].empty());
}

TEST(ReportJson, TextThatIsNoUtf8DoesNotBreakIt) {
  Report report;
  report.config = "bad\xff";
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

TEST(ReportText, AlignsNumbersRightAndWordsLeft) {
  const Table table{"title", {"name", "ns"}, {{"a", "1.5"}, {"long", "22.25"}}};
  EXPECT_EQ(to_text(table),
            "title\n"
            "  name     ns\n"
            "  a       1.5\n"
            "  long  22.25\n");
}

TEST(ReportText, ShowsBreakdownsOfAGroupInOneTable) {
  auto report = example_report();
  add_latency(report, "dma.h2d.8KiB",
              {"h2d", "8KiB", {{"entry_store", 1_ns}, {"doorbell", 2_ns}, {"data", 3_ns}}});
  const auto text = to_text(report);
  EXPECT_EQ(text.find("entry_store"), text.rfind("entry_store"));
  EXPECT_THAT(text, HasSubstr("1181.000"));
  EXPECT_THAT(text, HasSubstr("8KiB"));
}

TEST(ReportText, BeginsWithWhatWasReplacedInTheConfiguration) {
  EXPECT_THAT(to_text(example_report()), HasSubstr(" us simulated\nwith link.lanes=8\n\nh2d"));
}

TEST(ReportPrograms, AreNamedOnceWithTheirDigest) {
  const std::string bytes = "abc";
  const ConstByteSpan image{reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
  Report report;
  report.add_program("b", image);
  report.add_program("a", {});
  report.add_program("b", image);
  ASSERT_EQ(report.programs().size(), 2U);
  EXPECT_EQ(report.programs()[0].name, "b");
  // FIPS 180-2, B.1.
  EXPECT_EQ(report.programs()[0].sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ReportText, NamesWhatLimited) {
  EXPECT_THAT(to_text(example_report()),
              HasSubstr("dma.h2d.4KiB is limited by\n  7.200 % headers"));
}

}  // namespace
}  // namespace npu::reports
