// SPDX-License-Identifier: Apache-2.0
// Weights of functions where something that they share binds.
#include "model/dma/bandwidth_weights.hpp"

#include <gtest/gtest.h>

#include "model/partitions/engine_deal.hpp"

namespace npu::test {
namespace {

using model::BandwidthWeight;
using model::SimTime;

constexpr std::uint64_t kRate = 1'000'000'000'000;  // a byte per picosecond
constexpr Bytes kPiece = 1000;

// What each of two gets who always want more, by `end`; weight 0: it wants nothing.
std::pair<Bytes, Bytes> share_out(unsigned first, unsigned second, SimTime end) {
  BandwidthWeight partition(kRate, kPiece, 2);
  Bytes got[2] = {};
  SimTime next[2] = {0, 0};
  const unsigned weights[2] = {first, second};
  for (unsigned i = 0; i < 2; ++i) partition.set_weight(i, std::max(weights[i], 1U));
  for (;;) {
    const unsigned i = weights[1] == 0 || (weights[0] != 0 && next[0] <= next[1]) ? 0 : 1;
    const SimTime now = next[i];
    if (now >= end) break;
    const SimTime when = partition.admit(i, kPiece, now);
    if (when > now) {
      next[i] = when;
    } else {
      got[i] += kPiece;
    }
  }
  return {got[0], got[1]};
}

TEST(BandwidthWeight, OneAloneHasAllOfIt) {
  const auto [first, second] = share_out(1, 0, 1'000'000);
  EXPECT_NEAR(static_cast<double>(first), 1'000'000, 3 * kPiece);
  EXPECT_EQ(second, 0U);
}

TEST(BandwidthWeight, TwoGetWhatTheirWeightsSay) {
  const auto [even, odd] = share_out(1, 1, 1'000'000);
  EXPECT_NEAR(static_cast<double>(even), static_cast<double>(odd), 3 * kPiece);
  const auto [three, one] = share_out(3, 1, 1'000'000);
  EXPECT_NEAR(static_cast<double>(three) / static_cast<double>(one), 3, 0.05);
  EXPECT_NEAR(static_cast<double>(three + one), 1'000'000, 5 * kPiece);
}

TEST(BandwidthWeight, WhoSendsLittleNeverWaits) {
  BandwidthWeight partition(kRate, kPiece, 2);
  partition.set_weight(0, 1);
  partition.set_weight(1, 1);
  SimTime greedy = 0;
  for (SimTime now = 0; now < 1'000'000; now += 10'000) {
    while (greedy <= now) {
      const SimTime when = partition.admit(0, kPiece, greedy);
      if (when > greedy) greedy = when;
    }
    EXPECT_EQ(partition.admit(1, kPiece, std::max(now, greedy)), std::max(now, greedy));
  }
  EXPECT_EQ(partition.waited(1), 0U);
  EXPECT_GT(partition.waited(0), 0U);
}

TEST(EngineDeal, EverybodyHasOneAndWeightsSayWhoHasMore) {
  using model::deal_engines;
  const auto even = deal_engines({1, 0, 1}, 4);
  EXPECT_EQ(even[0].first, 0U);
  EXPECT_EQ(even[0].count, 2U);
  EXPECT_EQ(even[1].count, 0U);
  EXPECT_EQ(even[2].first, 2U);
  EXPECT_EQ(even[2].count, 2U);
  EXPECT_EQ(deal_engines({1, 3}, 4)[1].count, 3U);
  for (const auto& each : deal_engines(std::vector<unsigned>(13, 1), 4)) {
    EXPECT_EQ(each.count, 1U);
    EXPECT_LT(each.first, 4U);
  }
}

}  // namespace
}  // namespace npu::test
