// SPDX-License-Identifier: Apache-2.0
// The short cuts of a channel where little happens change nothing: same commands, same clocks.
#include <gtest/gtest.h>

#include <random>

#include "model/hbm/channel_engine.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/plain_traffic.hpp"
#include "tests/timing/hbm/watched.hpp"

namespace npu::model {
namespace {

using hbm::ChannelEngine;
using hbm::Clock;

using Watched = test::Watched<test::LoneEngine>;

// Bursts alone, in twos and threes, around refreshes, and after long idle times.
Clock next_gap(std::mt19937& random) {
  const auto r = static_cast<Clock>(random() >> 1);
  switch (r % 8) {
    case 0:
      return 1 + r / 8 % 4;
    case 1:
    case 2:
      return 1 + r / 8 % 60;
    case 7:
      return r / 8 % 64 == 0 ? 40'000 : 3000;
    default:
      return 1 + r / 8 % 700;
  }
}

void accept_random(ChannelEngine& engine, const HbmTimings& t, std::uint32_t r, unsigned tag,
                   Clock at) {
  const auto lane = engine.lane((r >> 3) % t.pseudo_channels, (r >> 5) % t.stacks,
                                (r >> 7) % t.bank_groups, (r >> 10) % 2);
  engine.accept({(r >> 13) % 3, tag, lane, (r & 1) != 0}, at);
}

void expect_same(const HbmConfig& config, unsigned seed) {
  Watched quick(config, true), slow(config, false);
  std::mt19937 random(seed);
  Clock at = 0;
  for (unsigned tag = 0; tag < 20'000; ++tag) {
    at += next_gap(random);
    const auto r = static_cast<std::uint32_t>(random());
    for (auto* each : {&quick, &slow}) {
      if (r % 5 == 0) each->subject.engine().advance(at - 1);
      accept_random(each->subject.engine(), config.timings, r, tag, at);
    }
    if (tag % 100 != 0) continue;
    for (unsigned p = 0; p < config.timings.pseudo_channels; ++p) {
      ASSERT_EQ(quick.bus(p, at), slow.bus(p, at)) << "before burst " << tag;
    }
  }
  quick.subject.engine().advance(at + 5000);
  slow.subject.engine().advance(at + 5000);
  ASSERT_EQ(quick.done.size(), 20'000U);
  EXPECT_EQ(quick.commands, slow.commands);
  EXPECT_EQ(quick.served(), slow.served());
  EXPECT_EQ(quick.counts(), slow.counts());
}

// As a port does: one burst per clock, when there is room.
Clock enter(ChannelEngine& engine, const test::PlainArrival& arrival, Clock port_free) {
  const auto& [bank, row, tag, write] = arrival.burst;
  Clock at = std::max(arrival.from, port_free);
  engine.advance(at);
  while (!engine.room(write)) {
    at = engine.next_decision();
    engine.step();
  }
  const auto lane = engine.lane(bank.pseudo_channel, bank.stack, bank.group, bank.bank);
  engine.accept({row, tag, lane, write}, at);
  return at + 1;
}

void expect_same_runs(const HbmConfig& config, unsigned seed) {
  const auto traffic =
      test::PlainTraffic(config.timings, seed).make(test::PlainTraffic::Kind::kRuns, 100'000);
  Watched quick(config, true), slow(config, false);
  Clock quick_free = 0, slow_free = 0;
  for (const auto& arrival : traffic) {
    quick_free = enter(quick.subject.engine(), arrival, quick_free);
    slow_free = enter(slow.subject.engine(), arrival, slow_free);
    ASSERT_EQ(quick_free, slow_free) << "burst " << arrival.burst.tag;
    if (arrival.burst.tag % 1000 != 0) continue;
    for (unsigned p = 0; p < config.timings.pseudo_channels; ++p) {
      ASSERT_EQ(quick.bus(p, quick_free), slow.bus(p, quick_free)) << arrival.burst.tag;
    }
  }
  quick.subject.engine().advance(quick_free + 5000);
  slow.subject.engine().advance(quick_free + 5000);
  ASSERT_EQ(quick.done.size(), traffic.size());
  EXPECT_EQ(quick.commands, slow.commands);
  EXPECT_EQ(quick.served(), slow.served());
  EXPECT_EQ(quick.counts(), slow.counts());
}

TEST(HbmShortCuts, ChangeNothingWithSplitQueues) {
  expect_same(test::split_config(test::ramulator_timings()), 1);
}

TEST(HbmShortCuts, ChangeNothingWithSplitQueuesAndPerBankRefresh) {
  expect_same(test::split_config(test::hbm2e_2400_timings()), 2);
  expect_same(test::split_config(test::with_bank_refresh(test::dramsim3_timings())), 3);
}

TEST(HbmShortCuts, ChangeNothingWithASharedQueue) {
  expect_same(test::shared_config(test::dramsys_timings()), 4);
}

TEST(HbmShortCuts, ChangeNothingWithASharedQueueAndPerBankRefresh) {
  expect_same(test::shared_config(test::with_bank_refresh(test::dramsys_timings())), 5);
}

TEST(HbmShortCuts, ChangeNothingInRunsOfRowHitsWithSplitQueues) {
  expect_same_runs(test::split_config(test::ramulator_timings()), 11);
  expect_same_runs(test::split_config(test::dramsim3_timings()), 12);
}

TEST(HbmShortCuts, ChangeNothingInRunsOfRowHitsWithASharedQueue) {
  expect_same_runs(test::shared_config(test::dramsys_timings()), 13);
}

TEST(HbmShortCuts, ChangeNothingInRunsOfRowHitsWithPerBankRefresh) {
  expect_same_runs(test::card_config(), 14);
  expect_same_runs(test::split_config(test::with_bank_refresh(test::dramsim3_timings())), 15);
  expect_same_runs(test::shared_config(test::with_bank_refresh(test::dramsys_timings())), 16);
}

}  // namespace
}  // namespace npu::model
