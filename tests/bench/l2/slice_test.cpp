// SPDX-License-Identifier: Apache-2.0
#include "model/l2/l2_slice.hpp"

#include <gtest/gtest.h>

namespace npu::test {
namespace {

using model::L2Slice;

TEST(L2Slice, ServesLinesOneAfterAnotherInOrderOfAcceptance) {
  L2Slice slice(1, 1);
  EXPECT_EQ(slice.occupy(100, 4), 100u);
  EXPECT_EQ(slice.occupy(100, 4), 104u);
  EXPECT_EQ(slice.occupy(50, 2), 108u) << "accepted later, though it came earlier";
  EXPECT_EQ(slice.occupy(500, 4), 500u) << "it has been idle";
}

TEST(L2Slice, HasAsManyMissBuffersAsItWasGiven) {
  L2Slice slice(2, 0);
  EXPECT_TRUE(slice.has_miss_buffer());
  EXPECT_FALSE(slice.has_misses());
  slice.begin_miss(7, 1);
  EXPECT_TRUE(slice.has_miss_buffer());
  slice.begin_miss(9, 2);
  EXPECT_FALSE(slice.has_miss_buffer());
  EXPECT_EQ(slice.fill_of(7), 1u);
  EXPECT_EQ(slice.fill_of(9), 2u);
  slice.end_miss(7);
  EXPECT_TRUE(slice.has_miss_buffer());
  EXPECT_EQ(slice.fill_of(9), 2u);
  slice.end_miss(9);
  EXPECT_FALSE(slice.has_misses());
}

// What others write is written back at once, whether there is a buffer or not.
TEST(L2Slice, WriteBacksBeyondTheBuffersHoldThemUntilEnoughAreOver) {
  L2Slice slice(1, 1);
  EXPECT_TRUE(slice.has_write_buffer());
  slice.begin_write_back();
  EXPECT_FALSE(slice.has_write_buffer());
  slice.begin_write_back();
  slice.end_write_back();
  EXPECT_FALSE(slice.has_write_buffer());
  slice.end_write_back();
  EXPECT_TRUE(slice.has_write_buffer());
}

TEST(L2Slice, WhoHasToWaitAgainIsStillTheFirst) {
  L2Slice slice(1, 1);
  EXPECT_FALSE(slice.has_blocked());
  for (const std::uint32_t request : {3, 1, 2}) slice.block(request);
  EXPECT_EQ(slice.take_blocked(), 3u);
  slice.block(4);
  slice.block_again(3);
  for (const std::uint32_t request : {3, 1, 2, 4}) {
    ASSERT_TRUE(slice.has_blocked());
    EXPECT_EQ(slice.take_blocked(), request);
  }
  EXPECT_FALSE(slice.has_blocked());
}

}  // namespace
}  // namespace npu::test
