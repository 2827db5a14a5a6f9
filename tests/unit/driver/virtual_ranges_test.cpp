// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/virtual_ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "npu/base/checked.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;

constexpr Bytes kAll = Bytes{8} << 40;  // of one window

TEST(VirtualRanges, BelongToTheirWindow) {
  // The upper halves of 16 TiB are those of the windows from 15 on.
  const std::pair<unsigned, unsigned> places[] = {{0, 2},  {1, 4},  {14, 30},
                                                  {15, 3}, {17, 7}, {29, 31}};
  for (const auto& [window, place] : places) {
    VirtualRanges ranges(window);
    const auto all = must(ranges.reserve(kAll, 2_MiB, false));
    EXPECT_EQ(all, place * kAll);
    EXPECT_THAT(ranges.reserve(2_MiB, 2_MiB, false), FailsWith(ErrorCode::kOutOfResources));
  }
}

TEST(VirtualRanges, OfManagedMemoryAreThreeTebibytesThatNoWindowHas) {
  auto ranges = VirtualRanges::managed();
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(*ranges.reserve(1024_GiB, 2_MiB, true), 0x900'0000'0000U + i * 1024_GiB);
  }
  EXPECT_THAT(ranges.reserve(2_MiB, 2_MiB, true), FailsWith(ErrorCode::kOutOfResources));
  EXPECT_LE(0x900'0000'0000U + 3 * 1024_GiB, 2 * kAll) << "those of window 0";
}

TEST(VirtualRanges, AreReservedWhereTheyAreWanted) {
  auto ranges = VirtualRanges::managed();
  constexpr std::uint64_t kAt = 0x900'0000'0000 + 8_MiB;
  ASSERT_THAT(ranges.reserve_at(kAt, 6_MiB, true), IsOk());
  EXPECT_EQ(ranges.find(kAt)->size, 6_MiB);
  EXPECT_THAT(ranges.reserve_at(kAt, 2_MiB, true), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_THAT(ranges.reserve_at(kAt + 6_MiB, 2_MiB, true), FailsWith(ErrorCode::kAlreadyExists))
      << "a reservation takes a power of two";
  EXPECT_THAT(ranges.reserve_at(kAt - 2_MiB, 4_MiB, true), FailsWith(ErrorCode::kAlreadyExists))
      << "and begins at a multiple of that";
  EXPECT_THAT(ranges.reserve_at(2_MiB, 2_MiB, true), FailsWith(ErrorCode::kAlreadyExists));
  EXPECT_THAT(ranges.reserve_at(kAt - 2_MiB, 2_MiB, true), IsOk());
  EXPECT_EQ(*ranges.reserve(4_MiB, 2_MiB, true), kAt - 8_MiB);
  ranges.release(kAt);
  ranges.release(kAt - 2_MiB);
  ranges.release(kAt - 8_MiB);
  EXPECT_THAT(ranges.reserve_at(0x900'0000'0000, 1024_GiB, true), IsOk()) << "merged again";
}

TEST(VirtualRanges, OfAGibOrMoreAreAlignedToAGib) {
  VirtualRanges ranges(1);
  ASSERT_THAT(ranges.reserve(2_MiB, 2_MiB, false), IsOk());
  EXPECT_TRUE(is_aligned(*ranges.reserve(1_GiB, 2_MiB, false), 1_GiB));
  EXPECT_TRUE(is_aligned(*ranges.reserve(3_GiB + 2_MiB, 2_MiB, false), 1_GiB));
  EXPECT_TRUE(is_aligned(*ranges.reserve(2_MiB, 64_MiB, false), 64_MiB));
}

TEST(VirtualRanges, OneReservationMayHaveAllManagedAddresses) {
  constexpr Bytes kTebibyte = Bytes{1} << 40;
  auto ranges = VirtualRanges::managed();
  const auto page = *ranges.reserve(2_MiB, 2_MiB, true);
  EXPECT_THAT(ranges.reserve(3 * kTebibyte, 2_MiB, true), FailsWith(ErrorCode::kOutOfResources));
  ranges.release(page);
  EXPECT_THAT(ranges.reserve(3 * kTebibyte + 1, 2_MiB, true),
              FailsWith(ErrorCode::kOutOfResources));
  const auto all = must(ranges.reserve(3 * kTebibyte, 2_MiB, true));
  EXPECT_EQ(ranges.containing(all + 3 * kTebibyte - 1)->first, all);
  EXPECT_THAT(ranges.reserve(2_MiB, 2_MiB, true), FailsWith(ErrorCode::kOutOfResources));
  ranges.release(all);
  EXPECT_THAT(ranges.reserve_at(all, 3 * kTebibyte, true), IsOk());
  ranges.release(all);
  EXPECT_THAT(ranges.reserve(2 * kTebibyte, 2_MiB, true), IsOk());
  EXPECT_THAT(ranges.reserve(kTebibyte, 2_MiB, true), IsOk());
}

TEST(VirtualRanges, AreFoundByAnyAddressInside) {
  VirtualRanges ranges(1);
  const auto at = *ranges.reserve(6_MiB, 2_MiB, true);
  EXPECT_EQ(ranges.containing(at + 6_MiB - 1)->first, at);
  EXPECT_TRUE(ranges.containing(at + 6_MiB) == ranges.end());
  EXPECT_TRUE(ranges.containing(at - 1) == ranges.end());
  EXPECT_TRUE(ranges.find(at)->plain);
  EXPECT_EQ(ranges.find(at + 2_MiB), nullptr);
}

TEST(VirtualRanges, MergeBackInAnyOrder) {
  std::mt19937 random(7);
  VirtualRanges ranges(3);
  std::vector<std::uint64_t> live;
  for (int i = 0; i < 3000; ++i) {
    if (!live.empty() && random() % 3 == 0) {
      std::swap(live[random() % live.size()], live.back());
      ranges.release(live.back());
      live.pop_back();
    } else {
      live.push_back(*ranges.reserve(2_MiB * (1 + random() % 3000), 2_MiB, false));
    }
  }
  for (const auto at : live) ranges.release(at);
  EXPECT_THAT(ranges.reserve(kAll, 2_MiB, false), IsOk());
}

}  // namespace
}  // namespace npu::driver
