// SPDX-License-Identifier: Apache-2.0
// Which masks the operator of attention has.
#include "workloads/network/attention_mask.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace npu::network {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

MaskShape of_sums(const Sides& sides, const std::vector<float>& values, std::uint64_t queries,
                  std::uint64_t keys) {
  return shape_of(Tensor::of(ElementType::kFloat, sides, values), MaskKind::kAdded, queries, keys);
}

TEST(AttentionMask, QueriesThatSeeWhatIsBeforeThemAreCausal) {
  EXPECT_EQ(of_sums({1, 1, 2, 2}, {0, kNone, 0, 0}, 2, 2), MaskShape::kCausal);
  // The last queries of more keys.
  EXPECT_EQ(of_sums({2, 3}, {0, 0, -1e9F, 0, 0, 0}, 2, 3), MaskShape::kCausal);
  EXPECT_EQ(of_sums({2, 3}, {0, -1e9F, -1e9F, 0, 0, -1e9F}, 2, 3), MaskShape::kOther);
}

TEST(AttentionMask, AMaskThatHidesNothingIsNone) {
  EXPECT_EQ(of_sums({1}, {0}, 5, 7), MaskShape::kAll);
  EXPECT_EQ(of_sums({1, 3}, {0, kNone, 0}, 3, 3), MaskShape::kOther);
}

TEST(AttentionMask, WhatNeitherShowsNorHidesIsAnother) {
  EXPECT_EQ(of_sums({2, 2}, {0, -100, 0, 0}, 2, 2), MaskShape::kOther);
  EXPECT_EQ(of_sums({2, 2}, {0, std::numeric_limits<float>::quiet_NaN(), 0, 0}, 2, 2),
            MaskShape::kOther);
}

TEST(AttentionMask, TruthShowsOrHides) {
  const auto lower = Tensor::of<std::uint8_t>(ElementType::kBool, {2, 2}, {1, 0, 1, 1});
  EXPECT_EQ(shape_of(lower, MaskKind::kTrueShows, 2, 2), MaskShape::kCausal);
  EXPECT_EQ(shape_of(lower, MaskKind::kTrueHides, 2, 2), MaskShape::kOther);
}

TEST(AttentionMask, HalvesAreReadAsTheyAre) {
  constexpr std::uint16_t kInfinity = 0xFC00, kLowest = 0xFBFF, kHundred = 0xD640;
  const auto of = [](std::uint16_t hidden) {
    const auto mask =
        Tensor::of<std::uint16_t>(ElementType::kFloat16, {2, 2}, {0, hidden, 0x8000, 0});
    return shape_of(mask, MaskKind::kAdded, 2, 2);
  };
  EXPECT_EQ(of(kInfinity), MaskShape::kCausal);
  EXPECT_EQ(of(kLowest), MaskShape::kCausal);
  EXPECT_EQ(of(kHundred), MaskShape::kOther);
}

}  // namespace
}  // namespace npu::network
