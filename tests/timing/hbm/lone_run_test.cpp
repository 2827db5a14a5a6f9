// SPDX-License-Identifier: Apache-2.0
// Runs of bursts at a channel's port, where an idle channel decides them without its queue, against
// the same channel without short cuts: same commands, same clocks.
#include <gtest/gtest.h>

#include <random>

#include "model/hbm/channel.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/watched.hpp"

namespace npu::model {
namespace {

using hbm::BurstRun;
using hbm::Clock;

using PortWatched = test::Watched<test::EngineBehindPort>;

struct RunTraffic {
  unsigned idle;     // of eight gaps, so many are long enough for what came before
  unsigned length;   // bursts of a run, at most
  unsigned indices;  // below these
  unsigned writes;   // percent
  unsigned follow;   // percent of runs that another one follows at once
};

Clock gap_of(const RunTraffic& traffic, std::mt19937& random) {
  const auto r = static_cast<Clock>(random() >> 1);
  if (r % 8 >= traffic.idle) return r / 8 % 40;
  return r / 8 % 50 == 0 ? 20'000 + r / 400 % 5'000 : 60 + r / 8 % 400;
}

void expect_same_runs(const HbmConfig& config, const RunTraffic& traffic, unsigned seed) {
  PortWatched quick(config, true), slow(config, false);
  std::mt19937 random(seed);
  const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
  const auto advance = [&](Clock until) {
    for (auto* each : {&quick, &slow}) each->subject.channel().advance(until);
    ASSERT_EQ(quick.columns, slow.columns) << "until " << until;
    ASSERT_EQ(quick.subject.channel().idle(), slow.subject.channel().idle()) << "until " << until;
    quick.columns.clear();
    slow.columns.clear();
  };
  Clock now = 0, arrived = 20;
  for (unsigned tag = 0; tag < 1'000; ++tag) {
    arrived =
        std::max(arrived, now + 20) + (below(100) < traffic.follow ? 0 : gap_of(traffic, random));
    const BurstRun run{below(traffic.indices), 1 + below(traffic.length), tag, arrived,
                       below(100) < traffic.writes};
    for (auto* each : {&quick, &slow}) each->subject.channel().push(run);
    if (below(100) < traffic.follow) continue;
    for (unsigned steps = 1 + below(3); steps > 0; --steps) {
      now = std::max(now, arrived - 20) + below(60);
      advance(now + 20);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (unsigned p = 0; p < config.timings.pseudo_channels; ++p) {
      ASSERT_EQ(quick.bus(p, now + 20), slow.bus(p, now + 20)) << "run " << tag;
    }
  }
  advance(now + 200'000);
  EXPECT_EQ(quick.commands, slow.commands);
  EXPECT_EQ(quick.served(), slow.served());
  EXPECT_EQ(quick.counts(), slow.counts());
}

void expect_no_change(HbmConfig config) {
  unsigned seed = 0;
  for (const Bytes interleave : {4, 16, 32}) {
    for (const unsigned groups : {1U, 2U, 4U}) {
      config.interleave = interleave * config.timings.burst;
      config.interleave_groups = groups;
      for (const RunTraffic& traffic :
           {RunTraffic{7, 16, 1 << 12, 50, 0}, RunTraffic{7, 40, 1 << 9, 0, 5},
            RunTraffic{6, 20, 1 << 15, 100, 10}, RunTraffic{3, 9, 1 << 10, 40, 30}}) {
        SCOPED_TRACE(std::to_string(interleave) + " bursts, groups " + std::to_string(groups) +
                     ", writes " + std::to_string(traffic.writes));
        expect_same_runs(config, traffic, ++seed);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(HbmLoneRun, ChangesNothingOnTheCard) {
  expect_no_change(test::card_config());
}

TEST(HbmLoneRun, ChangesNothingWithShortQueues) {
  HbmConfig config = test::card_config();
  config.read_queue = config.write_queue = 6;
  expect_no_change(config);
}

TEST(HbmLoneRun, ChangesNothingWithAllBankRefresh) {
  expect_no_change(test::split_config(test::ramulator_timings()));
}

TEST(HbmLoneRun, ChangesNothingWithASharedQueue) {
  expect_no_change(test::shared_config(test::dramsys_timings()));
}

}  // namespace
}  // namespace npu::model
