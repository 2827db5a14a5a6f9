// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <sstream>

#include "tests/unit/reports/example_report.hpp"
#include "tools/reports/markdown.hpp"
#include "tools/reports/report_csv.hpp"
#include "tools/reports/report_markdown.hpp"
#include "tools/reports/report_text.hpp"

namespace npu::reports {
namespace {

using ::testing::HasSubstr;

TEST(ReportCsv, HasARowPerMetricAndCounter) {
  const auto report = full_report();
  const std::string csv = to_csv(report);
  EXPECT_THAT(csv, HasSubstr("workload,config,seed,kind,name,value,unit\r\n"));
  EXPECT_THAT(csv, HasSubstr("dma_latency,910b.yaml,18446744073709551615,metric,"
                             "dma.h2d.4KiB.bandwidth_gb_per_s,25.000,GB/s\r\n"));
  EXPECT_THAT(csv, HasSubstr(",counter,card0.hbm.bytes_read,4096,B\r\n"));
  const auto lines = static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n'));
  EXPECT_EQ(lines, 1 + report.metrics().size() + report.counters().size());
}

TEST(ReportCsv, QuotesWhatRfc4180Does) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(ReportText, LongNotesAreWrapped) {
  Report report;
  std::string note = "word";
  for (int i = 0; i < 60; ++i) note += " and more";
  report.add_note(note);
  report.add_note("a short one");
  std::istringstream lines(to_text(report));
  std::string again;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    if (line.rfind("word", 0) == 0) again = line;
    if (line.rfind("  and", 0) == 0 || line.rfind("  more", 0) == 0) again += line.substr(1);
  }
  EXPECT_EQ(again, note);
  EXPECT_THAT(to_text(report), HasSubstr("\na short one\n"));
}

TEST(ReportMarkdown, HasNoMarkupFromTheReport) {
  EXPECT_EQ(markdown_text("a|b <i> *c* `d` [e] & f\ng"),
            "a\\|b &lt;i> \\*c\\* \\`d\\` \\[e\\] &amp; f g");
}

TEST(ReportMarkdown, AlignsColumnsOfNumbersRight) {
  const Table table{"", {"name", "ns"}, {{"a", "1.5"}, {"b"}}};
  EXPECT_EQ(markdown_table(table),
            "| name | ns |\n"
            "|---|---:|\n"
            "| a | 1.5 |\n"
            "| b |  |\n");
}

TEST(ReportMarkdown, ShowsBreakdownsTablesLimitsNotesMetricsAndCounters) {
  const std::string text = to_markdown(full_report());
  for (const auto* part :
       {"# dma_latency on 910b.yaml\n", "| with link.lanes | 8 |", "## h2d latency in ns\n",
        "| 4KiB | 1150.991 | 150.001 | 1000.990 | 0.007 | 1150.998 |", "| 1\\|2 | &lt;x> |",
        "- dma.h2d.4KiB: 7.200 % headers", "- a note of two lines",
        "| host.mmio_reads | 12 |  |"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ReportText, SaysThatARunIsNotComplete) {
  auto report = full_report();
  report.outcome = "interrupted";
  EXPECT_THAT(to_text(report), HasSubstr("\nnot complete: interrupted\n"));
  EXPECT_THAT(to_markdown(report), HasSubstr("| not complete | interrupted |"));
}

}  // namespace
}  // namespace npu::reports
