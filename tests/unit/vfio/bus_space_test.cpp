// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/bus_space.hpp"

#include <gtest/gtest.h>

#include <random>

namespace npu::test {
namespace {

using driver::vfio::BusSpace;

constexpr std::uint64_t kPreferred = 0x1'0000'0000;

TEST(BusSpace, GivesTheLowestGapFromThePreferredAddressOn) {
  BusSpace space({{0, (1ULL << 48) - 1}}, kPreferred);
  EXPECT_EQ(space.take(4096, 4096), kPreferred);
  EXPECT_EQ(space.take(8192, 4096), kPreferred + 0x1000);
  EXPECT_EQ(space.take(4096, 0x10000), kPreferred + 0x10000);
  EXPECT_EQ(space.take(0xD000, 4096), kPreferred + 0x3000) << "what the alignment left";
  space.give_back(kPreferred + 0x1000);
  EXPECT_EQ(space.take(0x2000, 4096), kPreferred + 0x1000);
}

TEST(BusSpace, StaysOutOfReservedRanges) {
  BusSpace space({{0, 0xFEDF'FFFF}, {0xFEF0'0000, 0xFFFF'FFFF}}, 0xFEDF'F000);
  EXPECT_EQ(space.take(4096, 4096), 0xFEDF'F000U);
  EXPECT_EQ(space.take(4096, 4096), 0xFEF0'0000U);
}

TEST(BusSpace, FallsBackBelowThePreferredAddressAndNeverGivesZero) {
  BusSpace space({{0, 0x2FFF}}, kPreferred);
  EXPECT_EQ(space.take(4096, 4096), 0x1000U);
  EXPECT_EQ(space.take(4096, 4096), 0x2000U);
  EXPECT_EQ(space.take(4096, 4096), std::nullopt);
}

TEST(BusSpace, FillsARangeToItsLastByte) {
  BusSpace space({{0x1000, 0x4FFF}}, 0x1000);
  EXPECT_EQ(space.take(0x4001, 1), std::nullopt);
  EXPECT_EQ(space.take(0x4000, 4096), 0x1000U);
}

TEST(BusSpace, TheEndOfTheAddressesIsNoOverflow) {
  BusSpace space({{0, ~std::uint64_t{0}}}, ~std::uint64_t{0} - 8191);
  EXPECT_EQ(space.take(8192, 4096), ~std::uint64_t{0} - 8191);
  EXPECT_EQ(space.take(4096, 4096), 0x1000U);
  EXPECT_EQ(space.take(~std::uint64_t{0}, 4096), std::nullopt);
  EXPECT_EQ(space.take(4096, 1ULL << 63), 1ULL << 63);
}

TEST(BusSpace, NothingOverlapsWhateverIsTakenAndGivenBack) {
  std::mt19937_64 random(1);
  BusSpace space({{0x1000, 0x1FFFF}, {0x40000, 0x7FFFF}}, 0x40000);
  std::map<std::uint64_t, Bytes> taken;
  for (int i = 0; i < 3000; ++i) {
    if (random() % 3 == 0 && !taken.empty()) {
      const auto it = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      space.give_back(it->first);
      taken.erase(it);
      continue;
    }
    const Bytes size = (1 + random() % 8) * 0x1000, alignment = Bytes{0x1000} << random() % 4;
    const auto address = space.take(size, alignment);
    if (!address) continue;
    ASSERT_EQ(*address % alignment, 0U);
    const bool low = *address >= 0x1000 && *address + size <= 0x20000;
    const bool high = *address >= 0x40000 && *address + size <= 0x80000;
    ASSERT_TRUE(low || high);
    const auto next = taken.lower_bound(*address);
    ASSERT_TRUE(next == taken.end() || *address + size <= next->first);
    ASSERT_TRUE(next == taken.begin() ||
                std::prev(next)->first + std::prev(next)->second <= *address);
    taken[*address] = size;
  }
}

}  // namespace
}  // namespace npu::test
