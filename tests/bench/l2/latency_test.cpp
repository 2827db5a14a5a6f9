// SPDX-License-Identifier: Apache-2.0
// How long requests take, by closed forms.
#include "l2_bench.hpp"

namespace npu::test {
namespace {

TEST(L2Latency, MissTakesMemoryAndFillOnTopOfAHit) {
  L2Bench bench;
  EXPECT_EQ(bench.read(0x1000), kReadMiss);
  EXPECT_EQ(bench.read(0x1000), kReadHit);
  EXPECT_EQ(bench.l2.statistics().read_misses, 1u);
  EXPECT_EQ(bench.l2.statistics().read_hits, 1u);
}

TEST(L2Latency, PartOfALineTakesTheClocksOfItsBytes) {
  L2Bench bench;
  bench.read(0x1000);
  EXPECT_EQ(bench.read(0x1001, 129), 2 * kNoc + kHit + 2 * kClock);
}

TEST(L2Latency, SmallHitsWaitForTheirTurnAndTakeTheSlicesTime) {
  L2Bench bench;
  bench.read(0x1000);
  const auto begin = model::sim_now();
  for (unsigned i = 0; i < 10; ++i) bench.issue({false, 0x1000});
  const auto small = bench.issue({false, 0x1040, 64});
  const auto last = bench.issue({false, 0x1000});
  bench.run(10_us);
  EXPECT_EQ(bench.ended[small] - begin, 2 * kNoc + kHit + 10 * kLineTime + kClock);
  EXPECT_EQ(bench.ended[last] - begin, kReadHit + 10 * kLineTime + kClock);
  EXPECT_EQ(bench.write(0x1000, 8), 2 * kNoc + kWrite + kClock);
}

TEST(L2Latency, SlicesWithoutALimitKeepNobodyWaiting) {
  auto config = small_l2();
  config.slice_per_clock = 0;
  L2Bench bench(config);
  bench.read(0x1000);
  const auto begin = model::sim_now();
  std::vector<std::size_t> all;
  for (unsigned i = 0; i < 10; ++i) all.push_back(bench.issue({i % 2 != 0, 0x1000}));
  bench.run(10_us);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(bench.ended[all[i]] - begin, 2 * kNoc + (i % 2 != 0 ? kWrite : kHit));
  }
}

TEST(L2Latency, WritesAreAnsweredWhenTaken) {
  L2Bench bench;
  EXPECT_EQ(bench.write(0x1000), kWriteTaken) << "allocated without a read";
  EXPECT_EQ(bench.memory_reads(), 0u);
  EXPECT_EQ(bench.write(0x1000), kWriteTaken);
  EXPECT_EQ(bench.write(0x2000, 128), 2 * kNoc + kWrite + kClock) << "a part of a line, too";
  EXPECT_EQ(bench.memory_reads(), 0u);
}

TEST(L2Latency, LinesOfDifferentSlicesComeAtOneTimeOfOneSliceInTurns) {
  L2Bench bench;
  bench.read(0, 8 * kLine);
  EXPECT_EQ(bench.read(0, 4 * kLine), kReadHit);
  EXPECT_EQ(bench.read(0, 8 * kLine), kReadHit + kLineTime);
  EXPECT_EQ(bench.l2.statistics().busy, Picoseconds(20 * kLineTime));
  EXPECT_EQ(bench.l2.statistics().queued, Picoseconds(4 * 2 * kLineTime))
      << "four of eight lines wait, when missing and when there";
}

TEST(L2Latency, NeighbouringMissesAreOneReadAndHitsSplitThem) {
  L2Bench bench;
  bench.read(2 * kLine);
  bench.read(0, 5 * kLine);
  const auto reads = bench.memory0.requests(tlm::TLM_READ_COMMAND);
  ASSERT_EQ(reads.size(), 3u);
  EXPECT_EQ(reads[1].address, 0u);
  EXPECT_EQ(reads[1].length, 2 * kLine);
  EXPECT_EQ(reads[2].address, 3u * kLine);
  EXPECT_EQ(reads[2].length, 2 * kLine);
}

TEST(L2Latency, MissesOfOneLineAreOneReadAndNoneIsAnsweredBeforeTheLineIsThere) {
  L2Bench bench;
  const auto begin = model::sim_now();
  const auto first = bench.issue({false, 0x1000});
  const auto same = bench.issue({false, 0x1000, kLine, nullptr, 1, 0, false, 1});
  bench.run(Picoseconds(kMemory + kNoc + kFill - 1));
  const auto late = bench.issue({false, 0x1000});
  bench.run(10_us);
  const SimTime there = begin + kMemory + kNoc + kFill;
  EXPECT_EQ(bench.ended[first], there + kTail);
  EXPECT_EQ(bench.ended[same], there + kTail);
  EXPECT_EQ(bench.ended[late], there - 1 + kReadHit) << "its own way is longer";
  EXPECT_EQ(bench.memory_reads(), 1u);
  EXPECT_EQ(bench.memory1.seen.size(), 0u);
  EXPECT_EQ(bench.l2.statistics().read_merged, 2u);
}

TEST(L2Latency, SmallReadsOfALineOnItsWayWaitForIt) {
  L2Bench bench;
  const auto begin = model::sim_now();
  bench.issue({false, 0x1000});
  const auto small = bench.issue({false, 0x1000, 8});
  bench.run(10_us);
  EXPECT_EQ(bench.ended[small], begin + kMemory + kNoc + kFill + kClock + kHit + kNoc);
}

TEST(L2Latency, StridedRequestsTouchTheirRowsLinesOnly) {
  L2Bench bench;
  EXPECT_EQ(bench.time({false, 0x100, 3 * 128, nullptr, 3, 4 * kLine}),
            2 * kNoc + kHit + kMemory + kFill + kClock * 1 + 0);
  EXPECT_EQ(bench.memory_reads(), 3u);
  EXPECT_TRUE(bench.holds(0));
  EXPECT_TRUE(bench.holds(8));
  EXPECT_FALSE(bench.holds(1));
}

TEST(L2Latency, RowsInOneLineShareItsRead) {
  L2Bench bench;
  bench.time({false, 0, 8 * 32, nullptr, 8, 64});
  EXPECT_EQ(bench.memory_reads(), 1u);
  EXPECT_EQ(bench.l2.statistics().read_misses, 1u);
  EXPECT_EQ(bench.l2.statistics().read_merged, 7u);
}

}  // namespace
}  // namespace npu::test
