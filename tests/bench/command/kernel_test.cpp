// SPDX-License-Identifier: Apache-2.0
// Kernels: that every block runs once, and how long they take.
#include "command_bench.hpp"

namespace npu::test {
namespace {

constexpr Bytes kA = kData, kB = kData + 512_KiB, kC = kData + 1_MiB;

float float_at(const CommandBench& bench, Bytes offset, std::uint64_t i) {
  return bench.device.load<float>(CommandBench::partition(1, offset + 4 * i));
}

class CommandKernels : public testing::TestWithParam<std::uint32_t> {};  // blocks

TEST_P(CommandKernels, VectorAddAddsEveryElementOnce) {
  constexpr std::uint64_t kElements = 10'007;
  CommandBench bench;
  auto queue = bench.make();
  for (std::uint64_t i = 0; i < kElements; ++i) {
    bench.device.store(bench.partition(1, kA + 4 * i), static_cast<float>(i));
    bench.device.store(bench.partition(1, kB + 4 * i), 0.5F);
  }
  bench.device.store(bench.partition(1, kC + 4 * kElements), 77.0F);
  bench.device.store(
      bench.partition(1, kArguments),
      words_of(platform::VectorOp::kAdd, kVirtual + kC, kVirtual + kA, kVirtual + kB, kElements));
  bench.submit(queue, launch(1, kElementwise, GetParam(), kArguments));
  bench.run(1_ms);
  ASSERT_EQ(bench.tags(queue).size(), 1U);
  for (std::uint64_t i = 0; i < kElements; ++i) {
    ASSERT_EQ(float_at(bench, kC, i), static_cast<float>(i) + 0.5F) << i;
  }
  EXPECT_EQ(float_at(bench, kC, kElements), 77.0F) << "nothing behind the end";
  EXPECT_EQ(bench.blocks(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Blocks, CommandKernels, testing::Values(1U, 3U, 8U, 100U));

using CommandKernel = OnBench<CommandBench>;

TEST_F(CommandKernel, AicpuKernelsRunOnTheAicpusWhateverTheMask) {
  QueueSpec spec;
  spec.core_mask = 0;
  auto queue = bench.make(spec);
  auto entry = launch(1, kNoteThread, 4, kArguments);
  entry.opcode = static_cast<std::uint8_t>(QueueOpcode::kLaunchAicpu);
  bench.submit(queue, entry);
  bench.run(100_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.device.load<std::uint64_t>(bench.partition(1, kArguments + 8 * i)), i + 1);
  }
  EXPECT_EQ(bench.blocks(), 0U);
}

// One block of a program that its core holds: dispatch 100, init 50, software init 200, the line
// of the arguments dropped 3 clocks and read 50, what it spins, report 100.
TEST_F(CommandKernel, ABlockTakesTheSumOfItsParts) {
  auto queue = bench.make({1, 6, false});
  const auto entry = spin(bench, 1, 1, 640, 1, abi::kEntryCompletion | abi::kEntryBarrier);
  SimTime written = 0;
  bench.device.written = [&](const PortRequest& request) {
    if (request.port == 1) written = model::sim_now();
  };
  bench.submit(queue, entry);  // warms the TLB
  bench.run(100_us);
  const auto begin = model::sim_now();
  bench.submit(queue, entry);
  bench.run(100_us);
  const Picoseconds kernel = 100_ns + 50_ns + 200_ns + 3_ns + 50_ns + 640_ns + 100_ns;
  // Doorbell 20, fetch 50, decode 15, kernel, completion 25, its entry and index 50.
  const Picoseconds all = 20_ns + 50_ns + 15_ns + kernel + 25_ns + 50_ns;
  EXPECT_EQ(written - begin, static_cast<SimTime>(all.count()));
}

TEST_F(CommandKernel, ABlockAtAFaultLeavesItsCoreUsable) {
  auto queue = bench.make();
  auto other = bench.make();
  bench.device.store(bench.partition(1, kArguments),
                     copy_words(kVirtual + kShare, kVirtual + kA, 5000));
  bench.submit(queue, launch(1, kElementwise, 16, kArguments));
  bench.run(100_us);
  const auto completion = bench.completion(queue);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->status, static_cast<int>(FaultCode::kTranslation));
  EXPECT_EQ(bench.fault(1).write, 1);
  bench.submit(other, spin(bench, 1, 2, 100, 8));
  bench.run(100_us);
  EXPECT_EQ(bench.tags(other).size(), 1U);
}

}  // namespace
}  // namespace npu::test
