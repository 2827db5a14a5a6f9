// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/sweep/sample.hpp"
#include "tools/reports/digest.hpp"

namespace npu::sweep {
namespace {

TEST(RunIdentity, TheNameIsTheBeginningOfADigestOfWhatTheRunIs) {
  // Typed by hand: whoever changes this text gives every point another folder.
  const std::string text =
      "{\n  \"schema\": \"npusim.sweep_point/1\",\n  \"npusim\": \"0.1.0\",\n"
      "  \"workload\": \"dma_latency\",\n  \"config_sha256\": \"" +
      std::string(64, 'a') +
      "\",\n  \"overrides\": {\"link.generation\": 5},\n  \"seed\": 1,\n"
      "  \"parameters\": {\"sizes\": [64, 4096], \"waiting\": \"polling\"}";
  EXPECT_EQ(sample_identity().name(), reports::sha256_text(text).substr(0, 16));
}

TEST(RunIdentity, EveryPartOfTheRunGivesAnotherName) {
  std::vector<RunIdentity> runs(7, sample_identity());
  runs[1].version = "0.1.1";
  runs[2].workload = "dma_bandwidth";
  runs[3].config_sha256[63] = 'c';
  runs[4].overrides[0].elements[0] = "4";
  runs[5].seed = 2;
  runs[6].parameters[0].elements[1] = "8192";
  std::set<std::string> names;
  for (const auto& run : runs) names.insert(run.name());
  EXPECT_EQ(names.size(), runs.size());
}

TEST(RunIdentity, AnotherBuildOrInputKeepsTheNameAndChangesTheText) {
  RunIdentity rebuilt = sample_identity(), other_input = sample_identity();
  rebuilt.build[0] = 'c';
  other_input.inputs = {{"graph.yaml", "0123"}};
  EXPECT_EQ(rebuilt.name(), sample_identity().name());
  EXPECT_EQ(other_input.name(), sample_identity().name());
  EXPECT_NE(rebuilt.text(), sample_identity().text());
  EXPECT_NE(other_input.text(), sample_identity().text());
}

TEST(RunIdentity, AReportOfTheRunIsKnownByItsOwnWords) {
  const auto report = sample_report(sample_identity(), {});
  EXPECT_TRUE(is_report_of(report, sample_identity()));
  EXPECT_FALSE(is_report_of(report, sample_identity(2)));
  RunIdentity other = sample_identity();
  other.parameters[0].elements[0] = "128";
  EXPECT_FALSE(is_report_of(report, other));
  other.parameters.pop_back();
  EXPECT_FALSE(is_report_of(report, other));
}

TEST(RunIdentity, AReportOfARunThatWasInterruptedIsNone) {
  auto report = sample_report(sample_identity(), {});
  report.outcome = "interrupted";
  EXPECT_FALSE(is_report_of(report, sample_identity()));
}

}  // namespace
}  // namespace npu::sweep
