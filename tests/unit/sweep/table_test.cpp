// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/sweep/sample.hpp"
#include "tools/cli/sweep/sweep_table.hpp"

namespace npu::sweep {
namespace {

using testing::HasSubstr;

SweepSpec named_sweep() {
  SweepSpec spec;
  spec.name = "latency";
  spec.workload = {"dma_latency", {}};
  return spec;
}

const std::vector<Axis> kAxes{
    {"configuration", "configuration", ""}, {"size", "parameter", "B"}, {"seed", "seed", ""}};

// Three points: two with reports of different metrics, one that failed.
SweepTable sample_table(const SweepSpec& spec) {
  SweepTable table(spec, "0.1.0", kAxes);
  const auto report = [](const Metrics& metrics) {
    return sample_report(sample_identity(), metrics);
  };
  using reports::Number;
  table.add(sample_point(0, "64"),
            report({{"t_ns", hundredths(500)}, {"first", Number::integer(1)}}), {});
  table.add(sample_point(1, "128"), {}, RunFailure{1, "npusim: \"no\""});
  table.add(sample_point(2, "256"),
            report({{"t_ns", hundredths(450)}, {"last", Number::integer(-2)}}), {});
  return table;
}

TEST(SweepTable, HasALinePerPointAndAColumnPerMetricOfAnyReport) {
  const SweepSpec spec = named_sweep();
  EXPECT_EQ(sample_table(spec).csv(),
            "configuration,size,seed,status,t_ns,first,last\n"
            "910b,64,1,done,5.00,1,\n"
            "910b,128,1,failed,,,\n"
            "910b,256,1,done,4.50,,-2\n");
}

TEST(SweepTable, ObjectivesGiveAColumnForTheFront) {
  SweepSpec spec = named_sweep();
  spec.objectives = {{{"t_ns", {}}, Goal::kMinimum}, {{"size", {}}, Goal::kMinimum}};
  spec.metrics = {{"", {"l*", {}}}};
  EXPECT_EQ(sample_table(spec).csv(),
            "configuration,size,seed,status,pareto,t_ns,last\n"
            "910b,64,1,done,yes,5.00,\n"
            "910b,128,1,failed,,,\n"
            "910b,256,1,done,yes,4.50,-2\n");
}

TEST(SweepTable, CellsAreQuotedWhereTheyHaveTo) {
  EXPECT_EQ(csv_line({"a", "b,c", "say \"x\"", "", "two\nlines"}),
            "a,\"b,c\",\"say \"\"x\"\"\",,\"two\nlines\"\n");
}

TEST(SweepTable, ANamedColumnHasTheOneMetricThatFits) {
  SweepSpec spec = named_sweep();
  spec.metrics = {{"other", {"[fl]*st", {}}}, {"time", {"t_*", {}}}};
  spec.objectives = {{{"other", {}}, Goal::kMinimum}};
  EXPECT_EQ(sample_table(spec).csv(),
            "configuration,size,seed,status,pareto,other,time\n"
            "910b,64,1,done,no,1,5.00\n"
            "910b,128,1,failed,,,\n"
            "910b,256,1,done,yes,-2,4.50\n");
  EXPECT_FALSE(sample_table(spec).mistake());
}

TEST(SweepTable, CountersAreThereWhereAPatternAsksForThem) {
  SweepSpec spec = named_sweep();
  spec.metrics = {{"", {"host.*", {}}}};
  EXPECT_EQ(sample_table(spec).csv(),
            "configuration,size,seed,status,host.mmio_reads\n"
            "910b,64,1,done,7\n"
            "910b,128,1,failed,\n"
            "910b,256,1,done,7\n");
}

std::string mistake_of(const std::vector<MetricChoice>& metrics,
                       const std::vector<Objective>& objectives) {
  SweepSpec spec = named_sweep();
  spec.metrics = metrics;
  spec.objectives = objectives;
  const auto mistake = sample_table(spec).mistake();
  return mistake ? mistake->message() : "none";
}

TEST(SweepTable, WhatNoReportHasIsAMistake) {
  const model::SourcePlace place{"s", 9, 2};
  EXPECT_EQ(
      mistake_of({{"", {"t_*", place}}, {"", {"x*", place}}}, {}),
      "s:9:2: metrics: no report has a metric 'x*'; allowed: names of metrics in the reports");
  EXPECT_EQ(mistake_of({}, {{{"t_sn", place}, Goal::kMinimum}}),
            "s:9:2: objectives: no report has a metric 't_sn'; did you mean 't_ns'?");
  EXPECT_EQ(mistake_of({}, {{{"size", place}, Goal::kMinimum}}), "none");
}

TEST(SweepTable, ANameForSeveralMetricsOfAReportIsAMistake) {
  EXPECT_EQ(mistake_of({{"all", {"*", {"s", 9, 2}}}}, {}),
            "s:9:2: metrics.all: stands for several metrics of point 0, one is 'first'");
}

TEST(SweepTable, JsonHasTheDigitsOfTheReports) {
  SweepSpec spec = named_sweep();
  spec.objectives = {{{"t_ns", {}}, Goal::kMaximum}};
  const std::string json = sample_table(spec).json();
  EXPECT_TRUE(nlohmann::json::accept(json)) << json;
  EXPECT_THAT(json,
              HasSubstr("{\"name\": \"size\", \"kind\": \"parameter\", \"unit\": \"B\", "
                        "\"numeric\": true, \"values\": [{\"text\": \"64B\", \"number\": 64}, "
                        "{\"text\": \"128B\", \"number\": 128}, {\"text\": \"256B\", "
                        "\"number\": 256}]}"));
  EXPECT_THAT(json,
              HasSubstr("\"axes\": [0, 0, 0], \"values\": [5.00, 1, null], \"pareto\": true}"));
  EXPECT_THAT(json, HasSubstr("\"axes\": [0, 2, 0], \"values\": [4.50, null, -2], "
                              "\"pareto\": false}"));
  EXPECT_THAT(json, HasSubstr("\"status\": \"failed\", \"axes\": [0, 1, 0], \"values\": [null, "
                              "null, null], \"pareto\": null, \"exit_code\": 1, \"failure\": "
                              "\"npusim: \\\"no\\\"\"}"));
  EXPECT_THAT(json, HasSubstr("{\"name\": \"t_ns\", \"kind\": \"metric\", \"goal\": \"max\"}"));
}

}  // namespace
}  // namespace npu::sweep
