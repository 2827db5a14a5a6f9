// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/figures.hpp"

#include <gtest/gtest.h>

#include "tests/support/folders.hpp"
#include "tests/unit/workloads/fake_run.hpp"
#include "tools/reports/compare/comparison_text.hpp"

namespace npu::workloads {
namespace {

using platform::Statistic;
using Rows = std::vector<std::vector<std::string>>;

struct Pass {
  std::uint64_t faults = 3;
  Bytes moved = 2_MiB;
  MeasuredSpan span{Instant(5_us), Instant(9_us), 77};
  std::optional<Number> share = {};
};

constexpr Figure<Pass> kFigures[] = {{"faults", "", from<&Pass::faults>, {"faults", 1}, kNoMore},
                                     {"moved_bytes", "B", from<&Pass::moved>, {"moved"}},
                                     {"time_us", "us", from<&Pass::span>},
                                     {"", "us", from<&Pass::span>, {"time us"}},
                                     {"share", "%", from<&Pass::share>, {"share %", 0, "none"}}};

class Figures : public WorkloadOnFake {
 protected:
  Figures() { fake_.tracer().listen(true); }
  std::vector<std::string> metrics() const {
    std::vector<std::string> all;
    for (const auto& each : report_.metrics()) {
      all.push_back(each.name + " " + each.value.text() + " " + each.unit);
    }
    return all;
  }
  const std::vector<platform::TraceEvent>& spans() { return fake_.tracer().events; }

  ParameterSet parameters_{std::vector<ParameterSpec>{}};
  Context context_{fake_, parameters_, 1, report_, machine_, machine_, {}};
};

TEST_F(Figures, AreMetricsBehindThePrefixInTheOrderOfTheirRows) {
  Pass pass;
  pass.share = Number::scaled(125, 1);
  report_figures(context_, "touch.random.", kFigures, pass);
  EXPECT_EQ(metrics(), (std::vector<std::string>{
                           "touch.random.faults 3 ", "touch.random.moved_bytes 2097152 B",
                           "touch.random.time_us 4.000000 us", "touch.random.share 12.5 %"}));
}

TEST_F(Figures, AreCellsBehindTheLabelsInTheOrderOfTheirColumns) {
  auto& table = add_figure_table(report_, "passes", {"order"}, kFigures);
  report_figures(context_, "touch.", kFigures, {}, &table, {"random"});
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"order", "moved", "time us", "share %", "faults"}));
  EXPECT_EQ(table.rows, (Rows{{"random", "2MiB", "4.000000", "none", "3"}}));
}

TEST_F(Figures, OfTimesTellWhatTheyAreMadeOf) {
  report_figures(context_, "touch.", kFigures, {});
  ASSERT_EQ(spans().size(), 1U);
  EXPECT_EQ(spans()[0].begin, Instant(5_us));
  EXPECT_EQ(spans()[0].end, Instant(9_us));
  EXPECT_EQ(spans()[0].cause, 77U);
}

TEST_F(Figures, OfASpanWithACountAreItsMean) {
  constexpr Figure<MeasuredSpan> kMean[] = {{"ns", "ns", itself}};
  report_figures(context_, "each_", kMean, {Instant(), Instant(10_ns), 0, 4});
  EXPECT_EQ(metrics(), (std::vector<std::string>{"each_ns 2.500 ns"}));
  EXPECT_EQ(spans()[0].detail, 4U << 8 | static_cast<std::uint64_t>(Statistic::kMean));
}

TEST_F(Figures, OfPartsFollowEachOtherAndAddUpToTheirTotal) {
  report_parts(context_, "p.", "us", {{"scan", 3_us}, {"open", Picoseconds(5)}}, Instant(10_us),
               {"stages", "stage", "total", true}, 5);
  EXPECT_EQ(metrics(),
            (std::vector<std::string>{"p.scan_us 3.000000 us", "p.open_us 0.000005 us"}));
  EXPECT_EQ(report_.tables()[0].rows, (Rows{{"scan", "3.000000", "100.0"},
                                            {"open", "0.000005", "0.0"},
                                            {"total", "3.000005", "100.0"}}));
  ASSERT_EQ(spans().size(), 2U);
  EXPECT_EQ(spans()[0].begin, Instant(10_us));
  EXPECT_EQ(spans()[1].begin, spans()[0].end);
  EXPECT_EQ(spans()[1].end, Instant(Picoseconds(13'000'005)));
  EXPECT_EQ(spans()[1].cause, 5U);
}

TEST_F(Figures, OfALatencyHaveItsPartsItsWaitAndTheCall) {
  report_latency(context_, "d", {"h2d", "4KiB", {{"data", 3_ns}}, 4_ns}, Instant(1_ns));
  EXPECT_EQ(metrics(),
            (std::vector<std::string>{"d.latency_ns 3.000 ns", "d.breakdown.data_ns 3.000 ns",
                                      "d.breakdown.wait_ns 4.000 ns", "d.call_ns 7.000 ns"}));
  EXPECT_EQ(report_.breakdowns().size(), 1U);
  EXPECT_EQ(spans().back().end, Instant(8_ns));
}

TEST(FigureRules, AreOfTheRowsThatHaveOneTheLongestNameFirst) {
  constexpr Figure<Number> kRows[] = {{"fraction", "", itself, {}, kHardlyLess},
                                      {"plain", "", itself},
                                      {"reference_fraction", "", itself, {}, kNotJudged}};
  const auto rules = compare_rules(figure_rows(kRows));
  ASSERT_EQ(rules.size(), 2U);
  const auto judged = [&](const char* name) {
    return reports::judge({name, Number(), ""}, false, {}, rules).worse;
  };
  EXPECT_EQ(judged("a.fraction"), reports::Worse::kDown);
  EXPECT_EQ(judged("a.reference_fraction"), reports::Worse::kNever);
  EXPECT_EQ(judged("a.plain"), reports::Worse::kNever);
}

// Rules go by the end of a name.
TEST(FigureRules, OfAWorkloadFitNoOtherOfItsFigures) {
  for (const auto& workload : all_workloads().all()) {
    const auto rules = compare_rules(workload.figures);
    for (const auto& row : workload.figures) {
      const auto judgement = reports::judge({row.name, Number(), row.unit}, false, {}, rules);
      const auto plain = reports::judge({row.name, Number(), row.unit}, false, {});
      EXPECT_EQ(judgement.worse, row.compared ? row.compared->worse : plain.worse)
          << workload.name << ": " << row.name;
    }
  }
}

TEST(FigureRules, AreThoseOfTheReportsPage) {
  std::string rows;
  for (const auto& workload : all_workloads().all()) {
    for (const auto& row : workload.figures) {
      if (!row.compared) continue;
      const auto [worse, allowed] = *row.compared;
      const auto* way = worse == reports::Worse::kUp                ? "up"
                        : worse == reports::Worse::kUpFewerIsNoGain ? "up; fewer: look"
                        : worse == reports::Worse::kDown            ? "down"
                                                                    : "never";
      rows += "| `" + workload.name + "` | `" + row.name + "` | " + way + " | " +
              reports::allowed_text({worse, allowed}) + " |\n";
    }
  }
  const std::string page = file_text(source_dir() + "/docs/reports.md");
  EXPECT_NE(page.find("|---|---|---|---|\n" + rows + "\n"), std::string::npos) << rows;
}

}  // namespace
}  // namespace npu::workloads
