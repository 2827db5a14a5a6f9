// SPDX-License-Identifier: Apache-2.0
// Bounded buffers: how much is asked of the memory at a time, and who waits for whom.
#include "l2_bench.hpp"

namespace npu::test {
namespace {

model::L2Config bounded(unsigned misses, unsigned writes) {
  auto config = small_l2();
  config.ways = 16;
  config.size = 16 * 4 * 8 * kLine;
  config.miss_buffers = misses;
  config.write_buffers = writes;
  return config;
}

TEST(L2Buffers, ReadsInFlightAreBoundedPerSlice) {
  L2Bench bench(bounded(2, 8));
  for (unsigned line = 0; line < 64; ++line) bench.issue({false, 8 * line * std::uint64_t{kLine}});
  bench.run(100_us);
  EXPECT_LE(bench.memory0.most_outstanding, 2u * 4);
  EXPECT_EQ(bench.memory_reads(), 64u);
  for (const auto when : bench.ended) EXPECT_NE(when, 0u);
  EXPECT_GT(bench.l2.statistics().blocked, 0_ps);
}

TEST(L2Buffers, TheNextOfASliceGoesWhenALineIsThere) {
  L2Bench bench(bounded(1, 8));
  const auto slices = model::LineStore(bounded(1, 8));
  std::vector<std::uint64_t> same;  // slice
  const auto home = slices.slice_of(slices.block_of(100), 100);
  for (std::uint64_t line = 100; same.size() < 3; ++line) {
    if (slices.slice_of(slices.block_of(line), line) == home) same.push_back(line * kLine);
  }
  const auto start = model::sim_now();
  std::array<std::size_t, 3> ids{};
  for (std::size_t i = 0; i < 3; ++i) ids[i] = bench.issue({false, same[i]});
  bench.run(10_us);
  const SimTime there = kNoc + kMemory + kFill;  // of the first, in its slice
  EXPECT_EQ(bench.ended[ids[0]] - start, there + kTail);
  // The others are at the slice already.
  const SimTime each = kMemory + kFill;
  EXPECT_EQ(bench.ended[ids[1]] - start, there + each + kTail);
  EXPECT_EQ(bench.ended[ids[2]] - start, there + 2 * each + kTail);
}

TEST(L2Buffers, OneRequestOfMoreLinesThanBuffersEnds) {
  L2Bench bench(bounded(1, 1));
  EXPECT_GT(bench.read(0, 64 * kLine), 16 * (kMemory + kFill));
  EXPECT_EQ(bench.l2.statistics().read_misses, 64u);
}

TEST(L2Buffers, WriteBacksInFlightAreBoundedAndHoldWritesBack) {
  L2Bench bench(bounded(8, 1));
  bench.write(0, 512 * kLine);
  bench.memory0.latency = 1'000'000;
  const SimTime took = bench.write(512 * kLine, 64 * kLine);  // 16 in each slice
  EXPECT_LE(bench.memory0.most_outstanding, 4u);
  EXPECT_EQ(bench.l2.statistics().write_backs, 64u);
  EXPECT_GE(took, 15u * 1'000'000);
  EXPECT_LE(took, 16u * 1'000'000 + kWriteTaken);
}

TEST(L2Buffers, HitsPassRequestsThatWait) {
  L2Bench bench(bounded(1, 1));
  bench.read(0, 4 * kLine);
  const auto begin = model::sim_now();
  bench.issue({false, 64 * kLine, 64 * kLine});
  const auto hit = bench.issue({false, 0, 4 * kLine});
  bench.run(100_us);
  EXPECT_LE(bench.ended[hit] - begin, kReadHit + 2 * kLineTime);
}

TEST(L2Buffers, MissesDoNotPassThoseThatWaitAtTheirSlice) {
  auto config = small_l2();
  config.ways = config.slices = config.write_buffers = 1;
  config.size = 4 * kLine;  // a set for each of lines 0..3; 5 and 4 lie in those of 0 and 1
  L2Bench bench(config);
  bench.write(0, 2 * kLine);
  bench.memory0.latency = 1'000'000;
  const auto begin = model::sim_now();
  bench.issue({true, 5 * kLine});                       // drives out line 0
  const auto waits = bench.issue({true, 4 * kLine});    // would drive out line 1
  const auto behind = bench.issue({false, 2 * kLine});  // needs no write buffer
  bench.run(10_us);
  EXPECT_EQ(bench.ended[waits] - begin, 1'000'000 + kLineTime + kWrite + kNoc);
  EXPECT_GE(bench.ended[behind] - begin, 2'000'000 + kFill);
}

TEST(L2Buffers, ASetWhoseWaysAreAllBeingFilledWaits) {
  auto config = small_l2();
  config.ways = 1;
  config.slices = 1;
  config.size = kLine;
  L2Bench bench(config);
  const auto begin = model::sim_now();
  const auto first = bench.issue({false, 0});
  const auto second = bench.issue({false, kLine});
  bench.run(10_us);
  EXPECT_EQ(bench.ended[first] - begin, kReadMiss);
  EXPECT_EQ(bench.ended[second] - begin, kReadMiss + kMemory + kFill);
}

}  // namespace
}  // namespace npu::test
