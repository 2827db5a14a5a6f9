// SPDX-License-Identifier: Apache-2.0
// What stays, what goes and what is written back.
#include <gtest/gtest.h>

#include "l2_bench.hpp"

namespace npu::test {
namespace {

// Lines of one set: the small cache has 32 sets of two ways, filled once by 32 lines in a row; the
// block of lines that follows lies in the same sets, in another order of slices.
std::uint64_t same_set(std::uint64_t line, std::uint64_t round) {
  const model::LineStore store(small_l2());
  const auto home = store.block_of(line);
  const unsigned slice = store.slice_of(home, line);
  for (std::uint64_t other = 32 * round;; ++other) {
    const auto block = store.block_of(other);
    if (block.sets == home.sets && store.slice_of(block, other) == slice) return other;
  }
}

using L2Capacity = OnBench<L2Bench>;

TEST_F(L2Capacity, TheLeastRecentlyUsedLineGoes) {
  const auto a = same_set(0, 0), b = same_set(0, 1), c = same_set(0, 2);
  for (const auto line : {a, b}) bench.read(line * kLine);
  bench.read(a * kLine);
  bench.read(c * kLine);
  EXPECT_TRUE(bench.holds(a));
  EXPECT_TRUE(bench.holds(c));
  EXPECT_FALSE(bench.holds(b));
}

TEST_F(L2Capacity, SmallHitsCountAsUse) {
  const auto a = same_set(0, 0), b = same_set(0, 1), c = same_set(0, 2);
  for (const auto line : {a, b}) bench.read(line * kLine);
  bench.read(a * kLine, 8);
  bench.read(c * kLine);
  EXPECT_TRUE(bench.holds(a));
}

TEST_F(L2Capacity, AllLinesOfAnAlignedPieceOfItsSizeFit) {
  bench.read(5 * kLines * kLine, kLines * kLine);
  const auto misses = bench.l2.statistics().read_misses;
  bench.read(5 * kLines * kLine, kLines * kLine);
  EXPECT_EQ(misses, kLines);
  EXPECT_EQ(bench.l2.statistics().read_misses, misses);
}

TEST_F(L2Capacity, DirtyLinesAreWrittenBackWhenTheyGoAndCleanOnesNot) {
  const auto a = same_set(0, 0), b = same_set(0, 1), c = same_set(0, 2), d = same_set(0, 3);
  bench.write(a * kLine);
  bench.read(b * kLine);
  bench.read(c * kLine);
  ASSERT_EQ(bench.write_backs().size(), 1u);
  EXPECT_EQ(bench.write_backs()[0].address, a * kLine);
  EXPECT_EQ(bench.write_backs()[0].length, kLine);
  bench.read(d * kLine);
  EXPECT_EQ(bench.write_backs().size(), 1u) << "b was clean";
  EXPECT_EQ(bench.l2.statistics().write_backs, 1u);
}

TEST_F(L2Capacity, AWriteThatHitsMakesALineDirty) {
  const auto a = same_set(0, 0);
  bench.read(a * kLine);
  bench.write(a * kLine, 4);
  bench.read(same_set(0, 1) * kLine);
  bench.read(same_set(0, 2) * kLine);
  EXPECT_EQ(bench.write_backs().size(), 1u);
}

TEST_F(L2Capacity, WritesOfPartsReadNothing) {
  bench.write(kLine - 128, 2 * kLine);  // the end of one, one whole, the begin of a third
  EXPECT_EQ(bench.memory_reads(), 0u);
  EXPECT_EQ(bench.l2.statistics().write_misses, 3u);
  const SimTime part = kReadHit - kLineTime + kClock;
  EXPECT_EQ(bench.read(kLine - 128, 128), part) << "what was written is there";
  EXPECT_EQ(bench.read(kLine - 100, 64), part) << "a part of it, too";
  EXPECT_EQ(bench.memory_reads(), 0u);
}

TEST_F(L2Capacity, AReadBesideWhatWasWrittenReadsTheLineOnce) {
  bench.write(64, 100);
  EXPECT_EQ(bench.read(63, 2), kReadMiss - kLineTime + kClock);
  EXPECT_EQ(bench.l2.statistics().read_misses, 1u);
  EXPECT_EQ(bench.read(0), kReadHit);
  EXPECT_EQ(bench.memory_reads(), 1u);
  bench.read(same_set(0, 1) * kLine);
  bench.read(same_set(0, 2) * kLine);
  EXPECT_EQ(bench.write_backs().size(), 1u) << "it has stayed dirty";
}

TEST_F(L2Capacity, PartsMakeALineWhole) {
  bench.write(301, kLine - 301);
  bench.write(0, 100);
  bench.write(100, 200);
  EXPECT_GT(bench.read(0), kReadHit) << "byte 300 is not there";
  bench.write(kLine + 64, kLine - 64);
  bench.write(kLine, 64);
  EXPECT_EQ(bench.read(kLine), kReadHit);
  EXPECT_EQ(bench.memory_reads(), 1u);
}

TEST_F(L2Capacity, ALineOfPartsIsWrittenBackAndThenNotThere) {
  const auto a = same_set(0, 0);
  bench.write(a * kLine, 64);
  bench.read(same_set(0, 1) * kLine);
  bench.read(same_set(0, 2) * kLine);
  ASSERT_EQ(bench.write_backs().size(), 1u);
  EXPECT_EQ(bench.write_backs()[0].address, a * kLine);
  bench.write(a * kLine + 64, 64);
  EXPECT_GT(bench.read(a * kLine, 64), kReadHit) << "its first bytes went";
}

TEST_F(L2Capacity, ClearingForgetsParts) {
  bench.write(0, 64);
  bench.write(kLine, 64);
  bench.l2.invalidate(kLine, 1);
  EXPECT_EQ(bench.read(0, 64), kReadHit - kLineTime + kClock);
  EXPECT_GT(bench.read(kLine, 64), kReadHit);
  bench.write(2 * kLine, 64);
  bench.l2.invalidate_all();
  bench.write(2 * kLine + 64, 64);
  EXPECT_GT(bench.read(2 * kLine, 64), kReadHit);
}

TEST_F(L2Capacity, NeighboursAreWrittenBackTogether) {
  bench.write(0, kLines * kLine);
  bench.read(kLines * kLine, 4 * kLine);
  ASSERT_EQ(bench.write_backs().size(), 1u);
  EXPECT_EQ(bench.write_backs()[0].length, 4 * kLine);
}

TEST_F(L2Capacity, AClearedCacheIsColdAndWritesNothing) {
  bench.write(0, kLines * kLine);
  bench.l2.invalidate_all();
  EXPECT_FALSE(bench.holds(5));
  EXPECT_EQ(bench.write_backs().size(), 0u);
}

TEST_F(L2Capacity, LinesOnTheirWaySurviveAClearedCache) {
  const auto read = bench.issue({false, 0x1000});
  bench.l2.invalidate_all();
  bench.run(10_us);
  EXPECT_NE(bench.ended[read], 0u);
  EXPECT_EQ(bench.read(0x1000), kReadHit);
}

}  // namespace
}  // namespace npu::test
