// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/buddy_allocator.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;

std::uint64_t address_of(const Result<DeviceMemory>& memory) {
  return memory ? memory->address.value : ~0ULL;
}

TEST(BuddyAllocator, StartsWithAllOf56GiBInOneRun) {
  const BuddyAllocator allocator(56_GiB);
  EXPECT_EQ(allocator.statistics().free, 56_GiB);
  EXPECT_EQ(allocator.statistics().largest_free_block, 56_GiB);
}

TEST(BuddyAllocator, HandsOut56GiBAsASingleBlock) {
  BuddyAllocator allocator(56_GiB);
  EXPECT_EQ(address_of(allocator.allocate(56_GiB)), 0U);
  EXPECT_EQ(allocator.statistics().free, 0U);
}

TEST(BuddyAllocator, RoundsUpToWholePages) {
  BuddyAllocator allocator(56_GiB);
  const auto memory = must(allocator.allocate(1));
  EXPECT_EQ(memory.size, 1U);
  EXPECT_EQ(memory.reserved, 2_MiB);
  EXPECT_EQ(allocator.statistics().free, 56_GiB - 2_MiB);
}

TEST(BuddyAllocator, GivesTheTailOf52GiBBack) {
  BuddyAllocator allocator(56_GiB);
  ASSERT_THAT(allocator.allocate(52_GiB), IsOk());
  EXPECT_EQ(allocator.statistics().free, 4_GiB);
  EXPECT_THAT(allocator.allocate(4_GiB), IsOk());
}

// requirements.md M2: 1 + 2 + 1 + 52 GiB fill the card exactly, though no buddy block has 52 GiB.
TEST(BuddyAllocator, FillsTheCardWith1And2And1And52GiB) {
  BuddyAllocator allocator(56_GiB);
  for (const Bytes size : {1_GiB, 2_GiB, 1_GiB, 52_GiB}) {
    EXPECT_THAT(allocator.allocate(size), IsOk()) << size;
  }
  EXPECT_EQ(allocator.statistics().free, 0U);
}

TEST(BuddyAllocator, FindsARunAcrossBuddyBorders) {
  BuddyAllocator allocator(16_MiB);  // pages 0..7
  for (int i = 0; i < 8; ++i) ASSERT_THAT(allocator.allocate(2_MiB), IsOk());
  // Pages 3 and 4 are neighbours, but never one buddy block.
  ASSERT_THAT(allocator.free(DeviceAddress{6_MiB}), IsOk());
  ASSERT_THAT(allocator.free(DeviceAddress{8_MiB}), IsOk());
  EXPECT_EQ(allocator.statistics().largest_free_block, 4_MiB);
  EXPECT_EQ(address_of(allocator.allocate(4_MiB)), 6_MiB);
}

TEST(BuddyAllocator, OutOfMemoryNamesRequestedFreeAndLargestBlock) {
  BuddyAllocator allocator(8_MiB);
  for (int i = 0; i < 4; ++i) ASSERT_THAT(allocator.allocate(2_MiB), IsOk());
  ASSERT_THAT(allocator.free(DeviceAddress{0}), IsOk());
  ASSERT_THAT(allocator.free(DeviceAddress{4_MiB}), IsOk());
  const auto refused = allocator.allocate(4_MiB);
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfMemory, "4194304 bytes"));
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfMemory, "4194304 free"));
  EXPECT_THAT(refused, FailsWith(ErrorCode::kOutOfMemory, "largest free block 2097152"));
}

TEST(BuddyAllocator, RefusesZeroBytesAndSizesThatOverflow) {
  BuddyAllocator allocator(56_GiB);
  EXPECT_THAT(allocator.allocate(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(allocator.allocate(UINT64_MAX), FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(allocator.allocate(UINT64_MAX - 1_MiB), FailsWith(ErrorCode::kOutOfMemory));
}

TEST(BuddyAllocator, RefusesToFreeWhatItDidNotHandOut) {
  BuddyAllocator allocator(56_GiB);
  const auto memory = must(allocator.allocate(8_MiB));
  EXPECT_THAT(allocator.free(memory.address + 2_MiB), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(allocator.free(memory.address + 1), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(allocator.free(DeviceAddress{60_GiB}), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(allocator.free(memory.address), IsOk());
  EXPECT_THAT(allocator.free(memory.address), FailsWith(ErrorCode::kInvalidArgument));
}

TEST(BuddyAllocator, TakesPagesWhereItIsTold) {
  BuddyAllocator allocator(56_GiB);
  const auto there = must(allocator.allocate_at(DeviceAddress{5_GiB + 6_MiB}, 3_GiB + 1));
  EXPECT_EQ(there.reserved, 3_GiB + 2_MiB);
  EXPECT_EQ(allocator.statistics().largest_free_block, 48_GiB - 8_MiB);
  ASSERT_THAT(allocator.allocate_at(DeviceAddress{0}, 5_GiB + 6_MiB), IsOk());
  EXPECT_EQ(allocator.statistics().largest_free_block, allocator.statistics().free);
  ASSERT_THAT(allocator.free(DeviceAddress{0}), IsOk());
  ASSERT_THAT(allocator.free(there.address), IsOk());
  EXPECT_EQ(allocator.statistics().largest_free_block, 56_GiB);
}

TEST(BuddyAllocator, RefusesPlacesThatAreNotFree) {
  BuddyAllocator allocator(1_GiB);
  ASSERT_THAT(allocator.allocate_at(DeviceAddress{8_MiB}, 2_MiB), IsOk());
  for (const Bytes at : {Bytes{0}, 4_MiB, 6_MiB, 8_MiB}) {
    EXPECT_THAT(allocator.allocate_at(DeviceAddress{at}, 10_MiB),
                FailsWith(ErrorCode::kOutOfMemory));
  }
  EXPECT_THAT(allocator.allocate_at(DeviceAddress{1_GiB - 2_MiB}, 4_MiB),
              FailsWith(ErrorCode::kOutOfMemory));
  EXPECT_THAT(allocator.allocate_at(DeviceAddress{1_MiB}, 2_MiB),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_EQ(allocator.statistics().free, 1_GiB - 2_MiB);
}

TEST(BuddyAllocator, IgnoresAPartOfAPageAtTheEnd) {
  BuddyAllocator allocator(5_MiB);
  EXPECT_EQ(allocator.statistics().total, 4_MiB);
  EXPECT_THAT(BuddyAllocator(1_MiB).allocate(1), FailsWith(ErrorCode::kOutOfMemory));
}

TEST(BuddyAllocator, ManagesMoreThanTheLargestOrder) {
  BuddyAllocator allocator(300_GiB);
  EXPECT_EQ(allocator.statistics().largest_free_block, 300_GiB);
  EXPECT_THAT(allocator.allocate(300_GiB), IsOk());
}

// requirements.md M2: enough is free, but not in one piece.
TEST(BuddyAllocator, RefusesARequestThatOnlyFitsInPieces) {
  BuddyAllocator allocator(56_GiB);
  std::vector<DeviceAddress> blocks;
  for (const Bytes size : {1_GiB, 2_GiB, 1_GiB, 52_GiB}) {
    const auto memory = must(allocator.allocate(size));
    blocks.push_back(memory.address);
  }
  ASSERT_THAT(allocator.free(blocks[0]), IsOk());
  ASSERT_THAT(allocator.free(blocks[1]), IsOk());
  EXPECT_EQ(allocator.statistics().free, 3_GiB);
  EXPECT_EQ(allocator.statistics().largest_free_block, 2_GiB);
  EXPECT_THAT(allocator.allocate(3_GiB), FailsWith(ErrorCode::kOutOfMemory));
}

TEST(BuddyAllocator, TheSameCallsGiveTheSameAddresses) {
  BuddyAllocator first(56_GiB);
  BuddyAllocator second(56_GiB);
  for (Bytes size = 1; size < 1_GiB; size = size * 3 + 1) {
    EXPECT_EQ(address_of(first.allocate(size)), address_of(second.allocate(size)));
  }
}

}  // namespace
}  // namespace npu::driver
