// SPDX-License-Identifier: Apache-2.0
// Order of entries within a queue, ring and completion ring, indices.
#include "command_bench.hpp"

namespace npu::test {
namespace {

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = first + i;
  return all;
}

TEST(CommandOrder, CapabilitiesAreThoseOfTheConfiguration) {
  CommandBench bench;
  bench.enable();
  const auto capability = bench.read<abi::QueueCapability>();
  EXPECT_EQ(capability.get<abi::QueueCapability::Slots>(), 4U);
  EXPECT_EQ(capability.get<abi::QueueCapability::DoorbellPages>(), 16U);
  const auto cores = bench.read<abi::QueueCores>();
  EXPECT_EQ(cores.get<abi::QueueCores::AiCores>(), 8U);
  EXPECT_EQ(cores.get<abi::QueueCores::Aicpus>(), 2U);
  EXPECT_EQ(bench.read<abi::DoorbellBase>().raw, kUsable + 48_MiB);
}

TEST(CommandOrder, ANopCompletesWithTagStatusIndexAndPhase) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, nop(0xABCD));
  bench.run(20_us);
  const auto completion = bench.completion(queue);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->tag, 0xABCDU);
  EXPECT_EQ(completion->status, 0);
  EXPECT_EQ(completion->read_index, 1U);
  EXPECT_EQ(completion->phase, 1);
  EXPECT_EQ(bench.read_index(queue), 1U);
  EXPECT_EQ(bench.interrupts_of(1), 0U) << "none was asked for";
  EXPECT_TRUE(bench.command.idle());
}

TEST(CommandOrder, RingInDeviceMemoryDoesTheSame) {
  CommandBench bench;
  auto queue = bench.make({1, 6, false});
  for (std::uint32_t i = 0; i < 40; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  bench.run(50_us);
  EXPECT_EQ(bench.tags(queue), numbers(0, 40));
  EXPECT_EQ(bench.read_index(queue), 40U);
}

TEST(CommandOrder, HundredPassesOverTheSmallestRingLoseNothing) {
  CommandBench bench;
  auto queue = bench.make({1, 2});
  for (std::uint32_t pass = 0; pass < 100; ++pass) {
    for (std::uint32_t i = 0; i < 4; ++i) bench.push(queue, nop(4 * pass + i));
    bench.ring(queue);
    bench.run(10_us);
    ASSERT_EQ(bench.tags(queue), numbers(4 * pass, 4)) << pass;
    ASSERT_EQ(bench.read_index(queue), 4 * (pass + 1));
  }
}

TEST(CommandOrder, FetchesSplitAtTheRingsEndAndAtTheLinksRequestSize) {
  CommandBench bench;
  auto queue = bench.make({1, 4});
  for (std::uint32_t i = 0; i < 14; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue), numbers(0, 14));
  bench.host.keep_record = true;
  for (std::uint32_t i = 14; i < 24; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  bench.run(20_us);
  std::vector<unsigned> lengths;
  for (const auto& seen : bench.host.seen) {
    if (!seen.write) lengths.push_back(seen.length);
  }
  EXPECT_EQ(lengths, (std::vector<unsigned>{2 * 64, 8 * 64}));
  EXPECT_EQ(bench.tags(queue), numbers(14, 10));
}

TEST(CommandOrder, EntriesWithoutBarrierOverlapAndOnesWithItWait) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, fill(1, kData, 256_KiB, 7));  // long
  bench.push(queue, nop(2));
  bench.push(queue, nop(3, abi::kEntryCompletion | abi::kEntryBarrier));
  bench.ring(queue);
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(queue), (std::vector<std::uint32_t>{2, 1, 3}));
}

TEST(CommandOrder, AnInOrderQueueHasABarrierEverywhere) {
  CommandBench bench;
  QueueSpec spec;
  spec.flags = abi::kQueueInOrder;
  auto queue = bench.make(spec);
  bench.push(queue, fill(1, kData, 256_KiB, 7));
  bench.push(queue, nop(2));
  bench.push(queue, fill(3, kData, 4_KiB, 8));
  bench.ring(queue);
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(queue), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kData)), 8U);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kData + 4_KiB)), 7U);
}

TEST(CommandOrder, CopiesMoveTheirBytes) {
  CommandBench bench;
  auto queue = bench.make();
  const auto host = bench.host_share(1, 1_MiB);
  for (unsigned i = 0; i < 10'000; ++i) {
    bench.host.bytes[host + i] = static_cast<unsigned char>(i * 7);
  }
  const auto barrier = abi::kEntryCompletion | abi::kEntryBarrier;
  bench.push(queue, entry_of(QueueOpcode::kHostToDevice, 1,
                             abi::CopyPayload{host, kVirtual + kData, 10'000}));
  bench.push(queue, entry_of(QueueOpcode::kDeviceToDevice, 2,
                             abi::CopyPayload{kVirtual + kData, kVirtual + kData + 1_MiB, 10'000},
                             barrier));
  bench.push(queue,
             entry_of(QueueOpcode::kDeviceToHost, 3,
                      abi::CopyPayload{kVirtual + kData + 1_MiB, host + 64_KiB, 10'000}, barrier));
  bench.ring(queue);
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(queue), numbers(1, 3));
  EXPECT_EQ(0, std::memcmp(&bench.host.bytes[host], &bench.host.bytes[host + 64_KiB], 10'000));
}

TEST(CommandOrder, CompletionsComeOnlyWhereAskedForAndIndicesAreStillReported) {
  CommandBench bench;
  auto queue = bench.make();
  for (std::uint32_t i = 0; i < 9; ++i) bench.push(queue, nop(i, 0));
  bench.push(queue, nop(9));
  bench.push(queue, nop(10, 0));
  bench.ring(queue);
  bench.run(50_us);
  EXPECT_EQ(bench.tags(queue), numbers(9, 1));
  EXPECT_EQ(bench.read_index(queue), 11U) << "told when the ring is empty";
  EXPECT_EQ(bench.descriptor(queue).completed, 0U) << "in the slot; written when unloaded";
}

TEST(CommandOrder, InterruptLeavesBehindTheCompletionEntry) {
  CommandBench bench;
  auto host_queue = bench.make({1, 6, true});
  auto device_queue = bench.make({2, 6, false});
  bench.submit(host_queue, nop(1, abi::kEntryCompletion | abi::kEntryInterrupt));
  bench.submit(device_queue, entry_of(QueueOpcode::kNotify, 2));
  bench.run(50_us);
  EXPECT_EQ(bench.interrupts_of(1), 1U);
  EXPECT_EQ(bench.interrupts_of(2), 1U);
  EXPECT_EQ(bench.tags(device_queue), numbers(2, 1));
}

TEST(CommandOrder, NoMoreEntriesAreInFlightThanTheWindowAllows) {
  auto config = command_chip_config();
  config.command.window = 3;
  CommandBench bench(config);
  auto queue = bench.make();
  bench.device.latency = 100'000'000;  // fills last
  for (std::uint32_t i = 0; i < 8; ++i) bench.push(queue, fill(i, kData + i * 4_KiB, 4_KiB, i, 0));
  bench.ring(queue);
  bench.run(60_us);
  bench.device.latency = 50'000;
  EXPECT_EQ(bench.read_index(queue), 0U);
  bench.run(5_ms);
  EXPECT_EQ(bench.read_index(queue), 8U);
  EXPECT_EQ(bench.command.statistics().entries, 8U);
}

// The card does not know what has been read of the completion ring. Who submits without reading
// loses the oldest ones of his own, and nothing else is touched.
TEST(CommandOrder, CompletionsThatNobodyReadsStayInTheirRing) {
  CommandBench bench;
  auto queue = bench.make({1, 2});
  auto other = bench.make({1, 2});
  const auto behind = queue.mqd.completion_base + 4 * abi::kQueueCompletionSize;
  const auto before = queue.mqd.completion_base - 8;
  bench.host.store(behind, std::uint64_t{0x1234});
  bench.host.store(before, std::uint64_t{0x5678});
  for (std::uint32_t i = 0; i < 1001; ++i) {
    bench.submit(queue, nop(i));
    bench.run(2_us);
  }
  bench.submit(other, nop(7));
  bench.run(20_us);
  for (std::uint32_t i = 997; i < 1001; ++i) {
    const auto entry = bench.host.load<abi::QueueCompletion>(queue.mqd.completion_base +
                                                             abi::kQueueCompletionSize * (i % 4));
    EXPECT_EQ(entry.tag, i);
    EXPECT_EQ(entry.phase, abi::completion_phase(i, 2));
  }
  EXPECT_EQ(bench.host.load<std::uint64_t>(behind), 0x1234U);
  EXPECT_EQ(bench.host.load<std::uint64_t>(before), 0x5678U);
  EXPECT_EQ(bench.tags(other), std::vector<std::uint32_t>{7});
  EXPECT_EQ(bench.faults(), 0U);
}

}  // namespace
}  // namespace npu::test
