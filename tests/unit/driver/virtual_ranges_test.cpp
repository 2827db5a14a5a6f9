// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/virtual_ranges.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npu/base/checked.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;
using test::IsOk;

constexpr Bytes kAll = Bytes{16} << 40;  // of one VMID

TEST(VirtualRanges, BelongToTheirVmid) {
  for (const unsigned vmid : {1U, 2U, 15U}) {
    VirtualRanges ranges(vmid);
    const auto all = ranges.reserve(kAll, 2_MiB, false);
    ASSERT_THAT(all, IsOk());
    EXPECT_EQ(*all, vmid * kAll);
    EXPECT_THAT(ranges.reserve(2_MiB, 2_MiB, false), FailsWith(ErrorCode::kOutOfResources));
  }
}

TEST(VirtualRanges, OfAGibOrMoreAreAlignedToAGib) {
  VirtualRanges ranges(1);
  ASSERT_THAT(ranges.reserve(2_MiB, 2_MiB, false), IsOk());
  EXPECT_TRUE(is_aligned(*ranges.reserve(1_GiB, 2_MiB, false), 1_GiB));
  EXPECT_TRUE(is_aligned(*ranges.reserve(3_GiB + 2_MiB, 2_MiB, false), 1_GiB));
  EXPECT_TRUE(is_aligned(*ranges.reserve(2_MiB, 64_MiB, false), 64_MiB));
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
