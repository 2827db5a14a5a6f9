// SPDX-License-Identifier: Apache-2.0
// A planned channel (fidelity `run`) against an exact one: mean latency of requests in closed
// loops.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/closed_loop.hpp"

namespace npu::model {
namespace {

using test::ClosedLoop;
using test::Loop;

constexpr hbm::Clock kClocks = 60'000;

struct Bound {
  Loop loop;
  double percent;  // of the exact latency
};

// An agent alone is what a copy of one piece after the other is; many are cores and copies at once.
constexpr Bound kBounds[] = {
    {{"one reads in a row", 1, "R", 16, false, 0}, 0.5},
    {{"one reads at random", 1, "R", 16, true, 0}, 3},
    {{"one reads bursts at random", 1, "R", 1, true, 0}, 1},
    {{"one writes in a row", 1, "W", 16, false, 0}, 0.5},
    {{"one writes at random", 1, "W", 16, true, 0}, 0.5},
    {{"one copies", 1, "RW", 16, false, 0}, 5},
    {{"two read", 2, "R", 16, false, 0}, 4},
    {{"four read", 4, "R", 16, false, 0}, 4},
    {{"sixteen read", 16, "R", 16, false, 0}, 4},
    {{"sixteen read at random", 16, "R", 16, true, 0}, 2},
    {{"sixty-four read bursts at random", 64, "R", 1, true, 0}, 4},
    {{"two copy", 2, "RW", 16, false, 0}, 3},
    {{"four copy", 4, "RW", 16, false, 0}, 8},
    {{"eight copy", 8, "RW", 16, false, 0}, 8},
    {{"sixteen copy", 16, "RW", 16, false, 0}, 4},
    {{"sixteen copy at random", 16, "RW", 16, true, 0}, 5},
    {{"four read twice as much as they write", 4, "RRW", 16, false, 0}, 4},
    {{"four copy with pauses", 4, "RW", 16, false, 100}, 6},
    {{"eight read at random with pauses", 8, "R", 16, true, 300}, 4},
    {{"eight write", 8, "W", 16, false, 0}, 4},
    {{"sixteen write at random", 16, "W", 16, true, 0}, 3},
    {{"four copy long pieces", 4, "RW", 64, false, 0}, 8},
};

class Planned : public testing::TestWithParam<Bound> {};

TEST_P(Planned, HasTheLatencyOfTheExactChannel) {
  auto config = test::card_config();
  config.interleave = 512;
  config.interleave_groups = 2;
  const auto& [loop, percent] = GetParam();
  const double exact = ClosedLoop(config, loop, true).run(kClocks).mean();
  const double planned = ClosedLoop(config, loop, false).run(kClocks).mean();
  EXPECT_LT(std::abs(planned / exact - 1) * 100, percent)
      << loop.name << ": exact " << exact << " clocks, planned " << planned;
}

INSTANTIATE_TEST_SUITE_P(Loops, Planned, testing::ValuesIn(kBounds));

// Tables with all-bank refresh, one queue, interleaves of a burst.
TEST(RunPlanner, IsNearOnOtherMemories) {
  const Loop loop{"reads and copies", 6, "RRW", 8, true, 40};
  for (const auto& config :
       {test::split_config(test::ramulator_timings()), test::shared_config(test::dramsys_timings()),
        test::split_config(test::dramsim3_timings())}) {
    const double exact = ClosedLoop(config, loop, true).run(kClocks).mean();
    const double planned = ClosedLoop(config, loop, false).run(kClocks).mean();
    EXPECT_LT(std::abs(planned / exact - 1), 0.25)
        << config.timings.name << ": exact " << exact << " clocks, planned " << planned;
  }
}

// Any table of timings, at its ends and between: every run ends, after it came, and is counted.
TEST(RunPlanner, TakesAnyTable) {
  std::mt19937_64 random(7);
  const auto pick = [&](unsigned least, unsigned most) {
    const auto kind = random() % 4;
    return kind == 0   ? least
           : kind == 1 ? most
                       : least + static_cast<unsigned>(random() % (most - least + 1));
  };
  for (unsigned table = 0; table < 300; ++table) {
    auto config = random() % 2 ? test::split_config(test::hbm2e_2400_timings())
                               : test::shared_config(test::dramsys_timings());
    HbmTimings& t = config.timings;
    for (const auto& timing : kHbmTimings) t.*timing.clocks = pick(timing.least, timing.most);
    if (t.trfc_pb == 0 || t.trefi_pb == 0) t.trfc_pb = t.trefi_pb = 0;
    t.pseudo_channels = pick(1, 2);
    t.stacks = 1U << pick(0, 2);
    t.bank_groups = 1U << pick(0, 3);
    t.banks_per_group = 1U << pick(0, 3);
    if (t.pseudo_channels * t.stacks * t.bank_groups * t.banks_per_group > 64) t.stacks = 1;
    config.read_queue = pick(1, 128);
    config.write_queue = pick(1, 128);
    config.xor_hash = random() % 2 != 0;
    config.interleave = Bytes{32} << pick(0, 4);
    config.interleave_groups = std::min(1U << pick(0, 3), t.bank_groups);
    const hbm::AddressMap map(config);
    hbm::RunPlanner planner(config, map);
    hbm::Clock at = 0;
    std::uint64_t bursts = 0;
    for (unsigned i = 0; i < 200; ++i) {
      at += static_cast<hbm::Clock>(random() % (random() % 16 == 0 ? 100'000 : 50));
      const auto count = static_cast<unsigned>(1 + random() % 100);
      bursts += count;
      const auto last = planner.plan({random() % 100'000, count, 0, at, random() % 3 == 0});
      ASSERT_GT(last, at) << "table " << table << ", run " << i;
    }
    const auto counts = planner.counts(at);
    ASSERT_EQ(counts.reads + counts.writes, bursts);
    ASSERT_LE(counts.activates, bursts * (1 + 4)) << "table " << table;
  }
}

TEST(RunPlanner, RefreshesCountByTime) {
  const auto config = test::card_config();
  const hbm::AddressMap map(config);
  const hbm::RunPlanner planner(config, map);
  const hbm::Clock interval = config.timings.trefi_pb;
  EXPECT_EQ(planner.counts(interval - 1).refreshes, 0U);
  EXPECT_EQ(planner.counts(interval).refreshes, 2U);
  EXPECT_EQ(planner.counts(10 * interval).refreshes, 20U);
}

}  // namespace
}  // namespace npu::model
