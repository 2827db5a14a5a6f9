// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/compare/comparison.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "npu/base/text.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/reports/example_report.hpp"
#include "tools/reports/compare/amounts.hpp"
#include "tools/reports/compare/comparison_json.hpp"
#include "tools/reports/compare/comparison_text.hpp"
#include "tools/reports/compare/junit.hpp"
#include "tools/reports/report_json.hpp"
#include "tools/reports/report_reader.hpp"

namespace npu::reports {
namespace {

using test::must;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Value {
  std::string name;
  std::int64_t thousandths;
  std::string unit;
};

// Metrics, and counters, whose names begin with "host." or "card".
Report report_of(const std::vector<Value>& values) {
  Report report;
  report.workload = "w";
  for (const auto& value : values) {
    const bool counter = value.name.rfind("host.", 0) == 0 || value.name.rfind("card", 0) == 0;
    const Number number = Number::scaled(value.thousandths, 3);
    if (counter) {
      report.add_counter(value.name, number, value.unit);
    } else {
      report.add_metric(value.name, number, value.unit);
    }
  }
  return report;
}

std::vector<Threshold> thresholds(const std::vector<std::string>& texts) {
  std::vector<Threshold> all;
  for (const auto& text : texts) {
    auto threshold = parse_threshold(text);
    EXPECT_TRUE(threshold) << text;
    if (threshold) all.push_back(*threshold);
  }
  return all;
}

Comparison compared(const std::vector<Value>& base, const std::vector<Value>& now,
                    const std::vector<std::string>& texts = {}) {
  auto comparison = compare(report_of(base), report_of(now), thresholds(texts));
  EXPECT_TRUE(comparison) << comparison.error().message();
  return std::move(*comparison);
}

// The verdict on a value that goes from 100 to `now`.
Verdict verdict(const std::string& name, const std::string& unit, std::int64_t now,
                const std::vector<std::string>& texts = {}) {
  const auto comparison = compared({{name, 100'000, unit}}, {{name, now, unit}}, texts);
  EXPECT_EQ(comparison.changes.size(), 1U);
  return comparison.changes.empty() ? Verdict::kChanged : comparison.changes[0].verdict;
}

TEST(Compare, IdenticalReportsAreOneLine) {
  const auto comparison = must(compare(full_report(), full_report(), {}));
  EXPECT_EQ(comparison.regressions(), 0U);
  EXPECT_EQ(to_text(comparison),
            "dma_latency on 910b.yaml: identical, 11 metrics and counters compared\n");
}

TEST(Compare, AnIncompleteRunIsARegressionAlsoIfItEqualsTheBase) {
  Report stopped = full_report();
  stopped.outcome = "interrupted";
  const auto comparison = must(compare(stopped, stopped, {}));
  EXPECT_EQ(comparison.regressions(), 1U);
  EXPECT_EQ(summary(comparison), "1 regression, 0 other changes, 11 metrics and counters compared");
  EXPECT_THAT(to_json(comparison), HasSubstr("\"result\": \"regression\""));
}

TEST(Compare, NothingInCommonIsNoComparison) {
  const auto nothing = compare(report_of({}), report_of({}), {});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(nothing.error().context, "the reports have no metric or counter in common");
  EXPECT_FALSE(compare(report_of({{"a", 1, "ns"}}), report_of({{"b", 1, "ns"}}), {}));
}

// 10^18 has room, its thousandths have not.
TEST(Compare, DifferencesOfLargeNumbersLoseTheirLastDigits) {
  const Number large = Number::integer(1'000'000'000'000'000'000);
  EXPECT_EQ(difference(Number::scaled(786'143, 3), large).text(), "999999999999999213");
  EXPECT_EQ(difference(large, Number::scaled(786'143, 3)).text(), "-999999999999999213");
  EXPECT_EQ(difference(Number::scaled(786'143, 3), Number::scaled(1, 9)).text(), "-786.142999999");
}

TEST(Compare, LatenciesMayGetWorseByOnePercent) {
  EXPECT_EQ(verdict("x.latency_ns", "ns", 101'000), Verdict::kWorse);
  EXPECT_EQ(verdict("x.latency_ns", "ns", 101'001), Verdict::kRegression);
  EXPECT_EQ(verdict("x.latency_ns", "ns", 50'000), Verdict::kBetter);
}

TEST(Compare, BandwidthsMayGetWorseByOnePercent) {
  EXPECT_EQ(verdict("x.bandwidth_gb_per_s", "GB/s", 99'000), Verdict::kWorse);
  EXPECT_EQ(verdict("x.bandwidth_gb_per_s", "GB/s", 98'999), Verdict::kRegression);
  EXPECT_EQ(verdict("x.bandwidth_gb_per_s", "GB/s", 200'000), Verdict::kBetter);
}

TEST(Compare, AccessesOfTheHostMayNotGrowAtAll) {
  for (const auto* name : {"host.mmio_reads_per_submission", "host.combining_stores",
                           "host.poll_calls_per_submission", "host.interrupts"}) {
    EXPECT_EQ(verdict(name, "", 100'001), Verdict::kRegression) << name;
    EXPECT_EQ(verdict(name, "", 99'999), Verdict::kBetter) << name;
  }
}

// A driver may have lost what it needs.
TEST(Compare, FewerBarriersOrLooksAtTheCardAreToBeLookedAt) {
  for (const auto* name : {"host.write_barriers", "host.write_barriers_per_submission",
                           "host.read_barriers_per_submission", "host.config_reads"}) {
    EXPECT_EQ(verdict(name, "", 100'001), Verdict::kRegression) << name;
    EXPECT_EQ(verdict(name, "", 99'999), Verdict::kLook) << name;
    EXPECT_EQ(verdict(name, "", 0), Verdict::kLook) << name;
  }
}

TEST(Compare, FewerWriteBacksOrWalksAreAChangeAndNoGain) {
  for (const auto* name : {"card0.l2.write_backs", "card0.mmu.page_walks"}) {
    EXPECT_EQ(verdict(name, "", 50'000), Verdict::kChanged) << name;
    EXPECT_EQ(verdict(name, "", 200'000), Verdict::kWorse) << name;
  }
}

TEST(Compare, AThresholdBoundsFewerBarriersAsItDoesMore) {
  const auto* const name = "host.write_barriers";
  EXPECT_EQ(verdict(name, "", 99'999, {"host.write_barriers=0"}), Verdict::kRegression);
  EXPECT_EQ(verdict(name, "", 80'000, {"host.*_barriers=10%"}), Verdict::kRegression);
  EXPECT_EQ(verdict(name, "", 95'000, {"host.*_barriers=10%"}), Verdict::kChanged);
  EXPECT_EQ(verdict(name, "", 0, {"host.write_barriers=100%"}), Verdict::kChanged);
}

TEST(Compare, WhatIsToBeLookedAtIsToldApartFromARegression) {
  const auto comparison = compared({{"host.write_barriers", 7'000, ""}, {"a.latency_ns", 9, "ns"}},
                                   {{"host.write_barriers", 0, ""}, {"a.latency_ns", 8, "ns"}});
  EXPECT_EQ(comparison.regressions(), 0U);
  EXPECT_EQ(comparison.looks(), 1U);
  EXPECT_EQ(summary(comparison),
            "no regression, 1 change to look at, 1 other change, 2 metrics and counters compared");
  EXPECT_THAT(to_json(comparison), HasSubstr("\"result\": \"look\""));
  EXPECT_THAT(to_json(comparison), HasSubstr("\"verdict\": \"look\""));
  EXPECT_THAT(to_text(comparison), HasSubstr("changed: look at it"));
  EXPECT_THAT(to_junit(comparison), HasSubstr("<failure type=\"look\""));
}

TEST(Compare, RulesOfTheWorkloadsFiguresComeFirst) {
  const std::vector<Rule> rules = {
      {false, "*config_reads", "", Worse::kUpFewerIsNoGain, Tolerance{Number::integer(0), true}},
      {false, "*latency_ns", "ns", Worse::kNever, {}}};
  const auto base = report_of({{"enumerate.config_reads", 100'000, ""}, {"a.latency_ns", 9, "ns"}});
  const auto verdicts = [&](std::int64_t reads) {
    const auto now = report_of({{"enumerate.config_reads", reads, ""}, {"a.latency_ns", 90, "ns"}});
    const auto changes = compare(base, now, {}, rules)->changes;
    return std::vector<Verdict>{changes.at(0).verdict, changes.at(1).verdict};
  };
  EXPECT_THAT(verdicts(100'001), ElementsAre(Verdict::kRegression, Verdict::kChanged));
  EXPECT_THAT(verdicts(99'999), ElementsAre(Verdict::kLook, Verdict::kChanged));
  EXPECT_THAT(verdicts(0), ElementsAre(Verdict::kLook, Verdict::kChanged));
}

TEST(Compare, RoundsOfPollsMayFollowTheTime) {
  EXPECT_EQ(verdict("host.polls_per_submission", "", 101'000), Verdict::kWorse);
  EXPECT_EQ(verdict("host.polls_per_submission", "", 101'001), Verdict::kRegression);
  EXPECT_EQ(verdict("host.polls", "", 200'000), Verdict::kWorse);
}

TEST(Compare, WhatHasNoDirectionIsARegressionOnlyIfNamed) {
  EXPECT_EQ(verdict("x.best_depth", "", 200'000), Verdict::kChanged);
  EXPECT_EQ(verdict("x.best_depth", "", 50'000, {"x.best_depth=10%"}), Verdict::kRegression);
  EXPECT_EQ(verdict("x.best_depth", "", 110'000, {"x.best_depth=10%"}), Verdict::kChanged);
  EXPECT_EQ(verdict("x.best_depth", "", 200'000, {"*=10%"}), Verdict::kChanged);
}

TEST(Compare, AThresholdReplacesTheDefaultAndTheLastOneCounts) {
  EXPECT_EQ(verdict("x.latency_ns", "ns", 104'000, {"*latency_ns=5%"}), Verdict::kWorse);
  EXPECT_EQ(verdict("x.latency_ns", "ns", 104'000, {"*latency_ns=5%", "x.*=0%"}),
            Verdict::kRegression);
  EXPECT_EQ(verdict("host.mmio_reads", "", 104'000, {"host.mmio_reads=4"}), Verdict::kWorse);
  EXPECT_EQ(verdict("host.mmio_reads", "", 104'001, {"host.mmio_reads=4"}), Verdict::kRegression);
}

TEST(Compare, APartMayGrowUnlessAThresholdBoundsIt) {
  EXPECT_EQ(verdict("x.breakdown.data_ns", "ns", 200'000), Verdict::kWorse);
  EXPECT_EQ(verdict("x.breakdown.data_ns", "ns", 200'000, {"*.data_ns=1%"}), Verdict::kRegression);
  EXPECT_EQ(verdict("x.breakdown.data_ns", "ns", 50'000, {"*=1%"}), Verdict::kBetter);
}

TEST(Compare, ShowsTheWorstFirst) {
  const auto comparison = compared(
      {{"a.latency_ns", 100, "ns"}, {"b.latency_ns", 100, "ns"}, {"c.latency_ns", 0, "ns"}},
      {{"a.latency_ns", 110, "ns"}, {"b.latency_ns", 150, "ns"}, {"c.latency_ns", 1, "ns"}});
  ASSERT_EQ(comparison.changes.size(), 3U);
  EXPECT_EQ(comparison.changes[0].name, "c.latency_ns");
  EXPECT_EQ(comparison.changes[1].name, "b.latency_ns");
  EXPECT_EQ(comparison.changes[2].name, "a.latency_ns");
}

TEST(Compare, NamesThePartThatChangedMostAndTheAccesses) {
  const auto comparison = compared({{"d.64B.latency_ns", 1'000'000, "ns"},
                                    {"d.64B.breakdown.doorbell_ns", 100'000, "ns"},
                                    {"d.64B.breakdown.data_ns", 900'000, "ns"},
                                    {"host.mmio_reads_per_submission", 0, ""}},
                                   {{"d.64B.latency_ns", 1'890'000, "ns"},
                                    {"d.64B.breakdown.doorbell_ns", 991'000, "ns"},
                                    {"d.64B.breakdown.data_ns", 899'000, "ns"},
                                    {"host.mmio_reads_per_submission", 1'000, ""}});
  ASSERT_EQ(comparison.regressions(), 2U);
  EXPECT_EQ(comparison.changes[0].name, "host.mmio_reads_per_submission");
  EXPECT_EQ(comparison.changes[0].why, "doorbell +891.000 ns in d.64B");
  EXPECT_EQ(comparison.changes[1].why,
            "doorbell +891.000 ns; host.mmio_reads_per_submission +1.000");
}

TEST(Compare, APartThatGotShorterIsNoReasonForALongerLatency) {
  const auto comparison = compared({{"d.64B.latency_ns", 100'000, "ns"},
                                    {"d.64B.breakdown.doorbell_ns", 40'000, "ns"},
                                    {"d.64B.breakdown.entry_store_ns", 50'000, "ns"},
                                    {"d.64B.breakdown.data_ns", 10'000, "ns"}},
                                   {{"d.64B.latency_ns", 110'000, "ns"},
                                    {"d.64B.breakdown.doorbell_ns", 65'000, "ns"},
                                    {"d.64B.breakdown.entry_store_ns", 10'000, "ns"},
                                    {"d.64B.breakdown.data_ns", 35'001, "ns"}});
  ASSERT_EQ(comparison.regressions(), 1U);
  EXPECT_EQ(comparison.changes[0].why, "data +25.001 ns");
}

TEST(Compare, TellsWhatIsMissingAndWhatIsNew) {
  const auto comparison =
      compared({{"gone", 1, ""}, {"stays", 1, ""}}, {{"came", 1, ""}, {"stays", 1, ""}});
  EXPECT_EQ(comparison.regressions(), 0U);
  EXPECT_THAT(to_text(comparison), HasSubstr("only in the base: metric gone\n"));
  EXPECT_THAT(to_text(comparison), HasSubstr("only in the new report: metric came\n"));
}

TEST(Compare, AMissingMetricThatAThresholdNamesIsARegression) {
  EXPECT_EQ(compared({{"gone", 1, ""}}, {}, {"gone=1%"}).regressions(), 1U);
}

TEST(Compare, ANewRunThatIsNotCompleteIsARegression) {
  auto now = full_report();
  now.outcome = "interrupted";
  const auto comparison = must(compare(full_report(), now, {}));
  EXPECT_EQ(comparison.regressions(), 1U);
  EXPECT_THAT(to_text(comparison), HasSubstr("the new run is not complete: interrupted"));
}

TEST(Compare, TellsWhatTheReportsAreOf) {
  auto now = full_report();
  now.configuration[0].elements = {"13"};
  now.parameters[0].elements = {"64"};
  now.seed = 2;
  const auto comparison = must(compare(full_report(), now, {}));
  EXPECT_THAT(comparison.differs, Contains("cpu.call_ns: 12.5 -> 13"));
  EXPECT_THAT(comparison.differs, Contains("parameter sizes: 4096,64 -> 64"));
  EXPECT_THAT(comparison.differs, Contains("seed: 18446744073709551615 -> 2"));
  EXPECT_EQ(comparison.differs.size(), 3U);
}

TEST(Compare, TellsWhichSectionsAreNotTheSame) {
  auto now = full_report();
  now.add_section({"utilisation", "[1]"});
  const auto comparison = must(compare(full_report(), now, {}));
  EXPECT_THAT(comparison.differs, ElementsAre("section utilisation: only in the new report"));
  EXPECT_EQ(comparison.regressions(), 0U);
}

TEST(Compare, RefusesOtherWorkloadsAndThresholdsOfNothing) {
  auto other = full_report();
  other.workload = "matmul";
  EXPECT_EQ(compare(full_report(), other, {}).error().context,
            "reports of different workloads: 'dma_latency' and 'matmul'");
  EXPECT_EQ(compare(full_report(), full_report(), thresholds({"nothing*=1%"})).error().context,
            "--threshold nothing*: neither report has a metric or counter of that name");
}

TEST(CompareThresholds, AreANameAndAnAmount) {
  for (const auto* bad : {"", "x", "=1%", "x=", "x=%", "x=-1%", "x=1e3", "x=1 %", "x=1001%",
                          "x=0.0001%", "x=99999999999999999999"}) {
    EXPECT_FALSE(parse_threshold(bad)) << bad;
  }
  EXPECT_EQ(parse_threshold("x=2.5%")->tolerance.text(), "2.5 %");
  EXPECT_EQ(parse_threshold("a=b=3")->pattern, "a=b");
}

TEST(CompareThresholds, PatternsHaveStars) {
  EXPECT_TRUE(matches("dma.*.latency_ns", "dma.h2d.64B.latency_ns"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "aXbXbc"));
  EXPECT_FALSE(matches("a*b", "aXbc"));
  EXPECT_FALSE(matches("dma", "dma.x"));
}

TEST(CompareAmounts, AreExactAtTheEndsOfNumbers) {
  const Number most = Number::scaled(INT64_MAX, 0), least = Number::scaled(INT64_MIN + 1, 9);
  EXPECT_EQ(difference(least, most).value(), INT64_MAX) << "there is no larger one";
  EXPECT_TRUE(exceeds(least, most, {Number::integer(1000), true}));
  EXPECT_FALSE(exceeds(most, most, {Number::integer(0), true}));
  EXPECT_EQ(share(Number::integer(0), most), INT64_MAX);
  EXPECT_EQ(difference(Number::scaled(15, 1), Number::scaled(1505, 3)).text(), "0.005");
}

// Reports that are damaged at a few places and still read.
TEST(Compare, TakesWhateverReads) {
  const std::string json = to_json(full_report());
  std::uint64_t state = 1;
  const auto draw = [&state](std::size_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33U) % below;
  };
  unsigned read = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    std::string damaged = json;
    for (std::size_t n = 0; n <= draw(3); ++n) damaged[draw(damaged.size())] = "019-.,az"[draw(8)];
    const auto other = read_report(damaged);
    if (!other) continue;
    ++read;
    const auto comparison = compare(full_report(), *other, {});
    if (!comparison) continue;
    EXPECT_TRUE(nlohmann::json::accept(to_json(*comparison)));
    EXPECT_FALSE(to_text(*comparison).empty());
    EXPECT_FALSE(to_markdown(*comparison).empty());
    EXPECT_FALSE(to_junit(*comparison).empty());
  }
  EXPECT_GT(read, 100U);
}

TEST(CompareJson, IsValidAndHasTheVerdicts) {
  const auto comparison =
      compared({{"x.latency_ns", 100'000, "ns"}}, {{"x.latency_ns", 200'000, "ns"}});
  const auto json = nlohmann::json::parse(to_json(comparison));
  EXPECT_EQ(json["schema"], "npusim.comparison/1");
  EXPECT_EQ(json["result"], "regression");
  EXPECT_EQ(json["changes"][0]["name"], "x.latency_ns");
  EXPECT_EQ(json["changes"][0]["percent"], 100.0);
  EXPECT_EQ(json["changes"][0]["verdict"], "regression");
}

TEST(CompareMarkdown, HasATablePerVerdict) {
  const auto comparison = compared({{"x.latency_ns", 100'000, "ns"}, {"n", 1, ""}},
                                   {{"x.latency_ns", 200'000, "ns"}, {"n", 2, ""}});
  const auto text = to_markdown(comparison);
  EXPECT_THAT(text, HasSubstr("## regressions, worst first\n"));
  EXPECT_THAT(text,
              HasSubstr("| x.latency_ns | 100.000 | 200.000 | +100.000 | +100.00 | ns | 1 % |"));
  EXPECT_THAT(text, HasSubstr("## changed\n"));
}

TEST(CompareJunit, HasACasePerChangeAndThreshold) {
  const auto comparison =
      compared({{"x.latency_ns", 100'000, "ns"}, {"y", 1, ""}, {"z", 1, ""}},
               {{"x.latency_ns", 200'000, "ns"}, {"y", 1, ""}, {"z", 2, ""}}, {"y=1%"});
  const auto xml = to_junit(comparison);
  EXPECT_THAT(xml, HasSubstr("tests=\"3\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<testcase classname=\"npusim.w.threshold\" name=\"y\" time=\"0\"/>"));
  EXPECT_THAT(xml,
              HasSubstr("<failure type=\"regression\" message=\"x.latency_ns: 100.000 -&gt; "));
}

TEST(CompareJunit, EscapesWhatXmlDoesNotTake) {
  EXPECT_EQ(xml_text("<a & \"b\">\n"), "&lt;a &amp; &quot;b&quot;&gt;&#10;");
  EXPECT_EQ(xml_text(std::string("\0\x1F", 2)), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(xml_text("\xEF\xBF\xBF!"), "\xEF\xBF\xBD!");
}

}  // namespace
}  // namespace npu::reports
