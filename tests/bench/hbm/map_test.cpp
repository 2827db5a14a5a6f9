// SPDX-License-Identifier: Apache-2.0
// Address mapping, and the picks over all banks against the loop that defines them.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <tuple>

#include "model/hbm/address_map.hpp"
#include "model/hbm/bank_lanes.hpp"
#include "model/hbm/clock_domain.hpp"
#include "tests/bench/hbm/hbm_tables.hpp"

namespace npu::model::hbm {
namespace {

TEST(HbmAddressMap, fields_lie_in_the_published_order) {
  const AddressMap map(test::shared_config(test::dramsys_timings()));

  const std::uint64_t burst = 0b101'1'10'01101'11'1'110;  // row stack bank column group pc channel
  const Location where = map.locate(map.index(burst));

  EXPECT_EQ(map.channel(burst), 0b110U);
  EXPECT_EQ(where.pseudo_channel, 1U);
  EXPECT_EQ(where.group, 0b11U);
  EXPECT_EQ(where.column, 0b01101U);
  EXPECT_EQ(where.bank, 0b10U);
  EXPECT_EQ(where.stack, 1U);
  EXPECT_EQ(where.row, 0b101U);
}

TEST(HbmAddressMap, the_hash_gives_every_burst_a_place_of_its_own) {
  const AddressMap map(test::card_config());
  std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> seen;
  constexpr std::uint64_t kStride = 97;

  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::uint64_t burst = i < 50'000 ? i : i * kStride + (1U << 24);
    const Location w = map.locate(map.index(burst));
    seen.emplace(map.channel(burst), w.pseudo_channel, w.stack, w.group, w.bank, w.column, w.row);
  }

  EXPECT_EQ(seen.size(), 100'000U);
}

TEST(HbmAddressMap, a_range_falls_apart_into_one_run_per_channel) {
  const AddressMap map(test::card_config());
  std::mt19937 random(5);
  for (unsigned i = 0; i < 200; ++i) {
    const std::uint64_t first = random() % 100'000'000;
    const std::uint64_t end = first + 1 + random() % 500;
    for (unsigned channel = 0; channel < map.channels(); ++channel) {
      std::uint64_t next = map.index_below(first, channel);
      for (std::uint64_t burst = first; burst < end; ++burst) {
        if (map.channel(burst) != channel) continue;
        EXPECT_EQ(map.index(burst), next++);
      }
      EXPECT_EQ(map.index_below(end, channel), next);
    }
  }
}

// Every bank with random limits, offers (some none at all) and an age of its own.
void fill(BankLanes& lanes, std::mt19937& random, unsigned spread, unsigned offers_of_eight) {
  const auto below = [&random](unsigned n) { return static_cast<Lane>(random() % n); };
  const auto ages = static_cast<int>(random() % 300);
  for (int lane = 0; lane < lanes.lanes(); ++lane) {
    for (auto* kind : {&lanes.act, &lanes.pre, &lanes.read, &lanes.write}) {
      kind->raise(lane, below(spread));
    }
    const bool open = below(2) != 0, write = below(2) != 0;
    const int age = ages + (lane * 37 + 11) % lanes.lanes();
    lanes.set_lane(age, lane);
    lanes.row_age.set(lane, age);
    lanes.column_age.set(lane, age + (write ? BankLanes::kSecondClass : 0));
    if (random() % 8 >= offers_of_eight) continue;
    (open ? lanes.pre : lanes.act).offer(lane);
    (write ? lanes.write : lanes.read).offer(lane);
  }
  for (auto* limits : {&lanes.block_act, &lanes.block_read, &lanes.block_write}) {
    for (int block = 0; block < lanes.blocks(); ++block) (*limits)[block] = below(spread);
  }
}

void expect_same(const Pick& a, const Pick& b) {
  ASSERT_EQ(a.lane, b.lane);
  ASSERT_EQ(a.order, b.order);
}

TEST(HbmBankLanes, vector_picks_agree_with_the_loop) {
  std::mt19937 random(9);
  for (const auto& [ranks, per_rank] : {std::pair{2, 16}, {4, 16}, {1, 8}, {8, 16}}) {
    for (unsigned round = 0; round < 20'000; ++round) {
      BankLanes lanes(ranks, per_rank);
      const unsigned spread = round % 3 == 0 ? 3 : round % 3 == 1 ? 60 : 9000;
      fill(lanes, random, spread, round % 9);
      const Clock floor = static_cast<Clock>(random() % spread);

      expect_same(lanes.pick_row(floor, 1), lanes.pick_row_by_loop(floor, 1));
      expect_same(lanes.pick_row(floor, 0), lanes.pick_row_by_loop(floor, 0));
      expect_same(lanes.pick_column(floor), lanes.pick_column_by_loop(floor));
    }
  }
}

TEST(HbmClockDomain, edges_that_are_no_whole_picoseconds_round_up) {
  const ClockDomain clocks(1'200'000'000);

  EXPECT_EQ(clocks.time(1), 834U);
  EXPECT_EQ(clocks.time(3), 2500U);
  for (Clock k = 0; k < 10'000; ++k) {
    EXPECT_EQ(clocks.ceil(clocks.time(k)), k);
    EXPECT_EQ(clocks.floor(clocks.time(k)), k);
    EXPECT_EQ(clocks.ceil(clocks.time(k) + 1), k + 1);
    EXPECT_EQ(clocks.floor(clocks.time(k + 1) - 1), k);
  }
}

}  // namespace
}  // namespace npu::model::hbm
