// SPDX-License-Identifier: Apache-2.0
// Kernels: what they compute, and how long they take.
#include "command_bench.hpp"

namespace npu::test {
namespace {

constexpr Bytes kA = kData, kB = kData + 512_KiB, kC = kData + 1_MiB;

void store_arguments(CommandBench& bench, std::uint64_t elements, std::uint64_t value = 0) {
  bench.device.store(
      bench.share(1, kArguments),
      abi::KernelArguments{kVirtual + kC, kVirtual + kA, kVirtual + kB, elements, value});
}
float float_at(const CommandBench& bench, Bytes offset, std::uint64_t i) {
  return bench.device.load<float>(CommandBench::share(1, offset + 4 * i));
}

class CommandKernels : public testing::TestWithParam<std::uint32_t> {};  // blocks

TEST_P(CommandKernels, VectorAddAddsEveryElementOnce) {
  constexpr std::uint64_t kElements = 10'007;
  CommandBench bench;
  auto queue = bench.make();
  for (std::uint64_t i = 0; i < kElements; ++i) {
    bench.device.store(bench.share(1, kA + 4 * i), static_cast<float>(i));
    bench.device.store(bench.share(1, kB + 4 * i), 0.5F);
  }
  bench.device.store(bench.share(1, kC + 4 * kElements), 77.0F);
  store_arguments(bench, kElements);
  bench.submit(queue, launch(1, abi::KernelFunction::kVectorAdd, GetParam(), kArguments));
  bench.run(1_ms);
  ASSERT_EQ(bench.tags(queue).size(), 1U);
  for (std::uint64_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(float_at(bench, kC, i), static_cast<float>(i) + 0.5F) << i;
  }
  EXPECT_EQ(float_at(bench, kC, kElements), 77.0F) << "nothing behind the end";
  EXPECT_EQ(bench.aicores.blocks(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Blocks, CommandKernels, testing::Values(1U, 3U, 8U, 100U));

TEST(CommandKernel, FillAndCopy) {
  CommandBench bench;
  auto queue = bench.make();
  store_arguments(bench, 3000, 0xDEADBEEF);
  bench.submit(queue, launch(1, abi::KernelFunction::kFill, 4, kArguments));
  bench.run(100_us);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.share(1, kC)), 0xDEADBEEFU);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.share(1, kC + 4 * 2999)), 0xDEADBEEFU);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.share(1, kC + 4 * 3000)), 0U);
  bench.device.store(bench.share(1, kArguments),
                     abi::KernelArguments{kVirtual + kA, kVirtual + kC, 0, 3000, 0});
  bench.submit(queue, launch(2, abi::KernelFunction::kCopy, 4, kArguments));
  bench.run(100_us);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.share(1, kA + 4 * 2999)), 0xDEADBEEFU);
}

TEST(CommandKernel, AicpuKernelsRunOnTheAicpusWhateverTheMask) {
  CommandBench bench;
  QueueSpec spec;
  spec.core_mask = 0;
  auto queue = bench.make(spec);
  store_arguments(bench, 0, 100);
  auto entry = launch(1, abi::KernelFunction::kSpin, 4, kArguments);
  entry.opcode = static_cast<std::uint8_t>(QueueOpcode::kLaunchAicpu);
  bench.submit(queue, entry);
  bench.run(100_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
  EXPECT_EQ(bench.aicpus.blocks(), 4U);
  EXPECT_EQ(bench.aicores.blocks(), 0U);
}

// One block, one tile: dispatch 100, init 50, arguments 50, software init 200, load 50, add of
// 256 elements 10 + 4 clocks, store 50, report 100.
TEST(CommandKernel, OneTileTakesTheSumOfItsParts) {
  CommandBench bench;
  auto queue = bench.make({1, 6, false});
  store_arguments(bench, 256);
  const auto entry = launch(1, abi::KernelFunction::kVectorAdd, 1, kArguments,
                            abi::kEntryCompletion | abi::kEntryBarrier);
  SimTime written = 0;
  bench.device.written = [&](const PortRequest& request) {
    if (request.port == 1) written = model::sim_now();
  };
  bench.submit(queue, entry);  // warms the TLB
  bench.run(100_us);
  const auto begin = model::sim_now();
  bench.submit(queue, entry);
  bench.run(100_us);
  const Picoseconds kernel = 100_ns + 50_ns + 50_ns + 200_ns + 50_ns + 14_ns + 50_ns + 100_ns;
  // Doorbell 20, fetch 50, decode 15, kernel, completion 25, its entry and index 50.
  const Picoseconds all = 20_ns + 50_ns + 15_ns + kernel + 25_ns + 50_ns;
  EXPECT_EQ(written - begin, static_cast<SimTime>(all.count()));
}

// Two sources of 64 B per clock each: a tile of 1 KiB loads in 32 clocks, computes in 14, stores in
// 16; with two buffers the round trip of a tile bounds it: load 50, add 14, store 50 ns.
TEST(CommandKernel, ABlockOfManyTilesIsBoundByItsBuffers) {
  CommandBench bench;
  auto queue = bench.make({1, 6, false});
  constexpr std::int64_t kTiles = 400;
  store_arguments(bench, 256 * kTiles);
  const auto before = model::sim_now();
  bench.submit(queue, launch(1, abi::KernelFunction::kVectorAdd, 1, kArguments));
  SimTime end = 0;
  while (end == 0 && model::sim_now() < before + 200'000'000) {
    bench.run(50_ns);
    if (!bench.tags(queue).empty()) end = model::sim_now();
  }
  const double per_tile = static_cast<double>(end - before) / 1000.0 / kTiles;
  EXPECT_NEAR(per_tile, (50 + 14 + 50) / 2.0, 6.0);
}

TEST(CommandKernel, ABlockAtAFaultLeavesItsCoreUsable) {
  CommandBench bench;
  auto queue = bench.make();
  auto other = bench.make();
  bench.device.store(bench.share(1, kArguments),
                     abi::KernelArguments{kVirtual + kShare, kVirtual + kA, 0, 5000, 0});
  bench.submit(queue, launch(1, abi::KernelFunction::kCopy, 16, kArguments));
  bench.run(100_us);
  const auto completion = bench.completion(queue);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->status, static_cast<int>(FaultCode::kTranslation));
  EXPECT_EQ(bench.fault(1).write, 1);
  store_arguments(bench, 0, 100);
  bench.submit(other, launch(2, abi::KernelFunction::kSpin, 8, kArguments));
  bench.run(100_us);
  EXPECT_EQ(bench.tags(other).size(), 1U);
}

}  // namespace
}  // namespace npu::test
