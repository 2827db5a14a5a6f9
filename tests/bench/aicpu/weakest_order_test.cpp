// SPDX-License-Identifier: Apache-2.0
// With order.rule=weakest: stores that stay in their buffer and pass each other, lines that a core
// holds before its program asks for them.
#include "tests/bench/aicpu/aicpu_bench.hpp"

namespace npu::test {
namespace {

using model::Writer;

constexpr unsigned kRounds = 40;
constexpr std::uint64_t kLines = 4;

struct WeakestAicpu : AicpuBench {
  WeakestAicpu() { sim.weakest.emplace(1); }
  bool has(std::uint64_t line) const { return peek(kDataAt + line * 64) != 0; }
  void clear() { std::memset(memory.bytes.data() + kDataAt, 0, kLines * 64); }

  // In how many rounds a line is in memory, at some time, while one before it is not.
  unsigned passes(const Program& program) {
    constexpr std::uint64_t kStep = 10, kEnd = 30'000;  // ns, longer than all takes
    unsigned rounds = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
      bool passed = false;
      clear();
      for (std::uint64_t ns = 0; ns < kEnd; ns += kStep) {
        at(model::sim_now() + ns * kNs, [&] {
          for (std::uint64_t line = 1; line < kLines; ++line) passed |= has(line) && !has(line - 1);
        });
      }
      run_program(program);
      for (std::uint64_t line = 0; line < kLines; ++line) EXPECT_TRUE(has(line));
      rounds += passed ? 1 : 0;
    }
    return rounds;
  }
  // In how many rounds a program finds old bytes in the neighbour of a line that it has loaded,
  // which DMA has written since.
  unsigned stale_neighbours(bool invalidates) {
    unsigned rounds = 0;
    for (unsigned round = 0; round < kRounds; ++round) {
      clear();
      run_program([&](AicpuPort& port) {
        port.load(kDataAt, 8);
        poke(Writer::kDma, kDataAt + 64, 7);
        if (invalidates) port.invalidate(kDataAt + 64, 8);
        rounds += port.load(kDataAt + 64, 8) != 7 ? 1 : 0;
        return 0;
      });
    }
    return rounds;
  }
};

TEST(WeakestAicpus, ReleasingStoresPassNoEarlierOne) {
  WeakestAicpu bench;
  const auto passed = bench.passes([](AicpuPort& port) {
    for (std::uint64_t line = 0; line < kLines; ++line) port.store(kDataAt + line * 64, 8, 1);
    return 0;
  });
  EXPECT_EQ(passed, 0U);
}

TEST(WeakestAicpus, LinesOfAWritePassEachOther) {
  WeakestAicpu bench;
  const auto passed = bench.passes([](AicpuPort& port) {
    const std::vector<std::uint64_t> ones(kLines * 8, 1);
    port.write(kDataAt, ones.data(), kLines * 64);
    return 0;
  });
  EXPECT_GT(passed, kRounds / 4);
}

TEST(WeakestAicpus, AStoreMayBeLateAndABarrierWaitsForIt) {
  WeakestAicpu bench;
  unsigned late = 0, missing = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    bench.clear();
    bench.run_program([&](AicpuPort& port) {
      port.store(kDataAt, 8, 1);
      port.compute(500);
      port.load(kDataAt + 4096, 8);
      late += bench.has(0) ? 0 : 1;
      port.barrier();
      port.load(kDataAt + 8192, 8);
      missing += bench.has(0) ? 0 : 1;
      return 0;
    });
  }
  EXPECT_GT(late, kRounds / 8);
  EXPECT_EQ(missing, 0U);
}

TEST(WeakestAicpus, HoldTheNeighbourOfALineAsItWas) {
  WeakestAicpu bench;
  EXPECT_GT(bench.stale_neighbours(false), kRounds / 4);
}

TEST(WeakestAicpus, SeeWhatIsThereBehindAnInvalidation) {
  WeakestAicpu bench;
  EXPECT_EQ(bench.stale_neighbours(true), 0U);
}

}  // namespace
}  // namespace npu::test
