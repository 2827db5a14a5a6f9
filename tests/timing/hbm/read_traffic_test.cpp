// SPDX-License-Identifier: Apache-2.0
// Reads alone and writes alone are entered ahead of their time and decided by special code: same
// commands, same clocks as when every burst takes the general way. Both change, and are mixed.
#include <gtest/gtest.h>

#include <random>

#include "tests/bench/hbm/hbm_tables.hpp"
#include "tests/timing/hbm/watched.hpp"

namespace npu::model {
namespace {

using hbm::Clock;

using WatchedReads = test::Watched<test::EngineBehindPort>;

struct ReadTraffic {
  std::uint64_t span;  // of the indices; small: row hits
  unsigned pause;      // clocks between two runs, at most
  bool runs_on;        // each begins where the last one ended, mostly
};

hbm::BurstRun next_run(const ReadTraffic& traffic, std::mt19937& random,
                       const hbm::BurstRun& last) {
  const auto r = static_cast<std::uint32_t>(random());
  const unsigned phase = last.tag / 500 % 4;
  const std::uint64_t index =
      traffic.runs_on && r % 64 != 0 ? last.index + last.count : random() % traffic.span;
  const Clock pause = r % 1024 == 0 ? 900 : static_cast<Clock>(random() % (traffic.pause + 1));
  return {index, 1 + r / 64 % 4, last.tag + 1, last.arrived + pause,
          phase == 1 || (phase == 3 && r / 256 % 3 == 0)};
}

void expect_same_reads(const HbmConfig& config, const ReadTraffic& traffic, unsigned seed) {
  constexpr unsigned kMixes = 20'000;
  WatchedReads quick(config, true), slow(config, false);
  std::mt19937 random(seed);
  hbm::BurstRun run{0, 0, 0, 0, false};
  while (run.tag < kMixes) {
    run = next_run(traffic, random, run);
    for (auto* each : {&quick, &slow}) each->subject.channel().push(run);
    if (random() % 16 != 0) continue;
    for (auto* each : {&quick, &slow}) each->subject.channel().advance(run.arrived);
    ASSERT_EQ(quick.bus(0, run.arrived), slow.bus(0, run.arrived)) << "run " << run.tag;
  }
  for (auto* each : {&quick, &slow}) each->subject.channel().advance(run.arrived + 1'000'000);
  ASSERT_GE(quick.done.size(), kMixes);
  EXPECT_EQ(quick.commands, slow.commands);
  EXPECT_EQ(quick.served(), slow.served());
  EXPECT_EQ(quick.counts(), slow.counts());
}

constexpr ReadTraffic kRandom = {1 << 22, 9, false};
constexpr ReadTraffic kCrowded = {1 << 22, 1, false};
constexpr ReadTraffic kFewRows = {1 << 12, 5, false};
constexpr ReadTraffic kSequential = {1 << 22, 5, true};

TEST(HbmReadTraffic, OnTheCardGetsTheSameCommandsAsWithoutShortCuts) {
  expect_same_reads(test::card_config(), kRandom, 1);
  expect_same_reads(test::card_config(), kCrowded, 2);
  expect_same_reads(test::card_config(), kFewRows, 3);
  expect_same_reads(test::card_config(), kSequential, 4);
}

TEST(HbmReadTraffic, WithAllBankRefreshGetsTheSameCommandsAsWithoutShortCuts) {
  const auto config = test::split_config(test::ramulator_timings());
  expect_same_reads(config, kRandom, 5);
  expect_same_reads(config, kFewRows, 6);
  expect_same_reads(config, kSequential, 7);
}

TEST(HbmReadTraffic, InASharedQueueGetsTheSameCommandsAsWithoutShortCuts) {
  const auto config = test::shared_config(test::dramsys_timings());
  expect_same_reads(config, kRandom, 8);
  expect_same_reads(config, kFewRows, 9);
  expect_same_reads(config, kSequential, 10);
}

}  // namespace
}  // namespace npu::model
