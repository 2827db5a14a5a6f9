// SPDX-License-Identifier: Apache-2.0
// ChannelEngine against PlainController on the tables of the reference simulators and the card's.
#include <gtest/gtest.h>

#include <string>

#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/plain_comparison.hpp"

namespace npu::model {
namespace {

using test::PlainTraffic;

struct Case {
  const char* name;
  HbmConfig config;
};

std::ostream& operator<<(std::ostream& out, const Case& a_case) {
  return out << a_case.name;
}

HbmConfig with_queues(HbmConfig config, unsigned entries) {
  config.read_queue = entries;
  if (config.policy == HbmPolicy::kSplitQueues) config.write_queue = entries;
  return config;
}

std::vector<Case> cases() {
  using namespace test;
  return {
      {"ramulator_split", split_config(ramulator_timings())},
      {"ramulator_shared", shared_config(ramulator_timings())},
      {"dramsys_split", split_config(dramsys_timings())},
      {"dramsys_shared", shared_config(dramsys_timings())},
      {"dramsim3_split", split_config(dramsim3_timings())},
      {"dramsim3_shared", shared_config(dramsim3_timings())},
      {"hbm2e_split", split_config(hbm2e_2400_timings())},
      {"hbm2e_shared", shared_config(hbm2e_2400_timings())},
      {"ramulator_bank_refresh_split", split_config(with_bank_refresh(ramulator_timings()))},
      {"dramsys_bank_refresh_shared", shared_config(with_bank_refresh(dramsys_timings()))},
      {"dramsim3_bank_refresh_split", split_config(with_bank_refresh(dramsim3_timings()))},
      {"dramsim3_bank_refresh_shared", shared_config(with_bank_refresh(dramsim3_timings()))},
      {"card", card_config()},
      {"tiny_split", with_queues(split_config(ramulator_timings()), 3)},
      {"tiny_shared", with_queues(shared_config(dramsys_timings()), 2)},
  };
}

class HbmPlain : public testing::TestWithParam<Case> {
 protected:
  void expect_equal_on(PlainTraffic::Kind kind, unsigned bursts) {
    for (unsigned seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const HbmConfig& config = GetParam().config;
      const auto traffic = PlainTraffic(config.timings, seed).make(kind, bursts);
      test::expect_equal(config, traffic, test::run_plain(config, traffic));
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(HbmPlain, DenseRandomBurstsAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kDense, 6'000);
}

TEST_P(HbmPlain, SparseRandomBurstsAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kSparse, 8'000);
}

TEST_P(HbmPlain, SequentialBurstsAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kSequential, 10'000);
}

TEST_P(HbmPlain, StreamsAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kStreams, 6'000);
}

TEST_P(HbmPlain, MixedKindsAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kMixed, 6'000);
}

TEST_P(HbmPlain, BurstsAfterIdleTimesAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kAfterIdle, 6'000);
}

TEST_P(HbmPlain, RunsToAnIdleChannelAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kRuns, 10'000);
}

TEST_P(HbmPlain, BurstsOfOneBankAreServedAlike) {
  expect_equal_on(PlainTraffic::Kind::kOneBank, 4'000);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Configs, HbmPlain, testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace npu::model
