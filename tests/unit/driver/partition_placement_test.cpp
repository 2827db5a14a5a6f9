// SPDX-License-Identifier: Apache-2.0
// Where a virtual device's cores and memory go.
#include "driver/virtual/partition_placement.hpp"

#include <gtest/gtest.h>

#include <random>

#include "npu/driver/memory.hpp"

namespace npu::driver {
namespace {

TEST(PartitionPlacement, TakesTheEndOfTheSmallestRunThatHoldsIt) {
  const std::vector<PlacedRange> taken{{8, 4}, {20, 4}};  // free: 0..7, 12..19
  EXPECT_EQ(place_run(24, taken, 8), 12U);
  EXPECT_EQ(place_run(24, {{8, 4}, {14, 10}}, 2), 12U);
  EXPECT_EQ(place_run(24, {{8, 4}, {14, 10}}, 3), 5U);
}

TEST(PartitionPlacement, ARunThatIsTooLongIsNowhere) {
  EXPECT_EQ(place_run(24, {{12, 6}}, 13), std::nullopt);
  EXPECT_EQ(place_run(24, {}, 25), std::nullopt);
  EXPECT_EQ(place_run(24, {}, 24), 0U);
}

TEST(PartitionPlacement, MembersOfAGroupTakeTheirCoresOnce) {
  EXPECT_EQ(place_run(24, {{12, 12}, {12, 12}}, 12), 0U);
}

TEST(PartitionPlacement, MemoryIsTriedForFromTheEndDownToTheBeginning) {
  const auto places = memory_places(1_GiB, {}, 800_MiB);
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.front(), 224_MiB);
  EXPECT_EQ(places.back(), 0U);
}

// Against one bit per core.
TEST(PartitionPlacement, NeverOverlapsWhatIsTaken) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<PlacedRange> taken;
    std::vector<bool> used(64);
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t size = 1 + random() % 12;
      const auto at = place_run(64, taken, size);
      if (!at) continue;
      ASSERT_LE(*at + size, 64U);
      for (std::uint64_t core = *at; core < *at + size; ++core) {
        ASSERT_FALSE(used[core]) << "round " << round;
        used[core] = true;
      }
      taken.push_back({*at, size});
    }
  }
}

}  // namespace
}  // namespace npu::driver
