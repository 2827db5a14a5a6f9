// SPDX-License-Identifier: Apache-2.0
// The management queue: processes, queues, suspend and resume, drain and reset.
#include "command_bench.hpp"

namespace npu::test {
namespace {

using abi::ManagementOpcode;
using abi::ManagementStatus;
using abi::PreemptMode;

abi::ManagementCommand command_of(ManagementOpcode opcode) {
  abi::ManagementCommand command;
  command.opcode = static_cast<std::uint8_t>(opcode);
  return command;
}
TEST(CommandManage, FenceAnswersWithItsValueAndRaisesItsVector) {
  CommandBench bench;
  auto fence = command_of(ManagementOpcode::kFence);
  fence.flags = abi::kManagementInterrupt;
  fence.vector = 33;
  EXPECT_EQ(bench.manage(fence).status, 0U);
  EXPECT_EQ(bench.interrupts_of(33), 1U);
  EXPECT_EQ(bench.read<abi::ManagementConsumer>().raw, 1U);
}

// The stand-in memory answers each read after its latency; 32 of 4 KiB are in flight at a time.
TEST(CommandManage, ScrubReadsAllOfItsRangeAndNothingBeyond) {
  CommandBench bench;
  bench.enable();
  auto scrub = command_of(ManagementOpcode::kScrub);
  const auto status = [&](std::uint64_t address, std::uint64_t size) {
    scrub.address = address, scrub.size = size;
    return bench.manage(scrub, 1_ms).status;
  };
  EXPECT_EQ(status(0, 4_KiB), 0U);
  EXPECT_EQ(status(2_MiB, 2_MiB), 0U);
  EXPECT_EQ(status(kInstalled - 4_KiB, 4_KiB), 0U) << "also what the driver has for itself";
  for (const auto& [address, size] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                      {64, 4_KiB},
                                      {0, 64},
                                      {kInstalled - 4_KiB, 8_KiB},
                                      {~std::uint64_t{4095}, 8_KiB}}) {
    EXPECT_EQ(status(address, size), value(ManagementStatus::kInvalidCommand)) << address;
  }
}

TEST(CommandManage, HundredCommandsWrapAroundTheRing) {
  CommandBench bench;
  for (unsigned i = 0; i < 100; ++i) {
    ASSERT_EQ(bench.manage(command_of(ManagementOpcode::kFence)).status, 0U);
  }
  EXPECT_EQ(bench.read<abi::ManagementConsumer>().raw, 100U);
}

TEST(CommandManage, MapProcessEntersItsTablesIntoTheContextTable) {
  CommandBench bench;
  auto map = command_of(ManagementOpcode::kMapProcess);
  map.pasid = 5, map.vmid = 9, map.page = 2, map.address = 0x1234'5000;
  EXPECT_EQ(bench.manage(map).status, 0U);
  const auto context = kUsable + abi::kReservedContextOffset;
  EXPECT_EQ(bench.device.load<std::uint64_t>(context + 8 * 9), 0x1234'5001U);
}

TEST(CommandManage, ProcessesAreChecked) {
  CommandBench bench;
  bench.map_process(1);
  const auto status = [&](std::uint32_t pasid, std::uint8_t vmid, std::uint32_t page) {
    auto map = command_of(ManagementOpcode::kMapProcess);
    map.pasid = pasid, map.vmid = vmid, map.page = page;
    return bench.manage(map).status;
  };
  EXPECT_EQ(status(0, 2, 2), value(ManagementStatus::kInvalidProcess));
  EXPECT_EQ(status(1 << 20, 2, 2), value(ManagementStatus::kInvalidProcess));
  EXPECT_EQ(status(5, 0, 2), value(ManagementStatus::kInvalidProcess)) << "VMID 0 is the driver's";
  EXPECT_EQ(status(5, abi::kVmids, 2), value(ManagementStatus::kInvalidProcess));
  EXPECT_EQ(status(101, 2, 2), value(ManagementStatus::kInvalidProcess)) << "PASID in use";
  EXPECT_EQ(status(5, 1, 2), value(ManagementStatus::kInvalidProcess)) << "VMID in use";
  EXPECT_EQ(status(5, 2, 1), value(ManagementStatus::kInvalidPage)) << "page in use";
  EXPECT_EQ(status(5, 2, 16), value(ManagementStatus::kInvalidPage)) << "beyond the aperture";
  EXPECT_EQ(status(5, 2, 15), 0U);
}

TEST(CommandManage, AProcessWithQueuesIsNotUnmapped) {
  CommandBench bench;
  auto queue = bench.make();
  auto unmap = command_of(ManagementOpcode::kUnmapProcess);
  unmap.pasid = 101;
  EXPECT_EQ(bench.manage(unmap).status, value(ManagementStatus::kProcessBusy));
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, queue).status, 0U);
  EXPECT_EQ(bench.manage(unmap).status, 0U);
  EXPECT_EQ(bench.manage(unmap).status, value(ManagementStatus::kInvalidProcess));
  bench.doorbell(queue, 1);
  bench.run(1_us);
  EXPECT_EQ(bench.fault(1).pasid, 0U) << "the page is nobody's again";
}

TEST(CommandManage, DescriptorsAreChecked) {
  using Change = void (*)(abi::QueueDescriptor&);
  CommandBench bench;
  bench.map_process(1);
  const Change changes[] = {
      [](auto& m) { m.format = 2; },       [](auto& m) { m.flags = 0x20; },
      [](auto& m) { m.ring_base += 8; },   [](auto& m) { m.ring_base = 0; },
      [](auto& m) { m.log2_ring = 1; },    [](auto& m) { m.log2_ring = 17; },
      [](auto& m) { m.vmid = 2; },         [](auto& m) { m.priority = 16; },
      [](auto& m) { m.doorbell = 511; },   [](auto& m) { m.vector = 64; },
      [](auto& m) { m.percentage = 0; },   [](auto& m) { m.percentage = 101; },
      [](auto& m) { m.save_area += 8; },   [](auto& m) { m.log2_completions = 3; },
      [](auto& m) { m.write_index = 65; }, [](auto& m) { m.read_index = 1; },
      [](auto& m) { m.signal_base += 4; }, [](auto& m) { m.signal_slots = 4097; },
  };
  int number = 0;
  for (const auto change : changes) {
    auto queue = bench.describe({});
    change(queue.mqd);
    EXPECT_EQ(bench.add(queue).status, value(ManagementStatus::kInvalidDescriptor)) << number++;
  }
}

TEST(CommandManage, IdsDoorbellsAndOwnersAreChecked) {
  CommandBench bench;
  auto queue = bench.make();
  EXPECT_EQ(bench.add(queue).status, value(ManagementStatus::kInvalidQueue)) << "twice";
  auto other = bench.describe({});
  other.mqd.doorbell = queue.mqd.doorbell;
  EXPECT_EQ(bench.add(other).status, value(ManagementStatus::kDoorbellInUse));
  auto stranger = bench.describe({3});
  EXPECT_EQ(bench.add(stranger).status, value(ManagementStatus::kInvalidProcess));
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, stranger).status,
            value(ManagementStatus::kInvalidQueue));
}

TEST(CommandManage, PacketsOfASuspendedQueueRunAfterResume) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, nop(1));
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kSuspend, queue).detail, 2U);
  EXPECT_EQ(bench.descriptor(queue).state, 2U);
  bench.submit(queue, nop(2));
  bench.run(2_ms);
  EXPECT_EQ(bench.tags(queue), std::vector<std::uint32_t>{1});
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue), std::vector<std::uint32_t>{2});
}

TEST(CommandManage, ResumeReadsTheDriversHalfAndRefusesNonsense) {
  CommandBench bench;
  auto queue = bench.make();
  bench.on_queue(ManagementOpcode::kSuspend, queue);
  auto changed = queue;
  changed.mqd.ring_base = 0;
  bench.write_descriptor(changed);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status,
            value(ManagementStatus::kInvalidDescriptor));
  bench.submit(queue, nop(1));
  bench.run(20_us);
  EXPECT_TRUE(bench.tags(queue).empty()) << "still suspended";
  bench.write_descriptor(queue);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandManage, UpdateTakesEffectOnARunningQueue) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, spin(bench, 1, 1, 5'000, 16));
  bench.run(6_us);
  auto half = bench.descriptor(queue);
  half.core_mask = {1, 0, 0, 0};
  queue.mqd.core_mask = half.core_mask;
  bench.device.store(kDescriptors, half);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kUpdateQueue, queue).status, 0U);
  const auto blocks = bench.blocks();
  bench.run(16_us);
  EXPECT_LE(bench.blocks(), blocks + 3) << "one core";
  bench.run(100_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
  EXPECT_EQ(bench.blocks(), 16U);
}

TEST(CommandManage, ThousandSuspendsAndResumesChangeNoResult) {
  CommandBench bench;
  auto queue = bench.make({1, 8});
  std::uint32_t pushed = 0;
  std::size_t completed = 0;
  for (unsigned cycle = 0; cycle < 1000; ++cycle) {
    bench.push(queue, fill(pushed, kData + 4096 * (pushed % 64), 4096, pushed));
    ++pushed;
    bench.ring(queue);
    bench.run(Picoseconds((cycle % 37) * 40'000));
    bench.on_queue(ManagementOpcode::kSuspend, queue, PreemptMode::kDrain, 10_us);
    bench.on_queue(ManagementOpcode::kResume, queue, PreemptMode::kDrain, 5_us);
    completed += bench.tags(queue).size();
  }
  bench.run(1_ms);
  completed += bench.tags(queue).size();
  EXPECT_EQ(completed, 1000U);
  for (std::uint32_t i = 936; i < 1000; ++i) {
    EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kData + 4096 * (i % 64))), i);
  }
  EXPECT_EQ(bench.faults(), 0U);
}

TEST(CommandManage, RemoveWithDrainWaitsForWhatRuns) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, spin(bench, 1, 1, 50'000, 1));
  bench.push(queue, nop(2, abi::kEntryCompletion | abi::kEntryBarrier));
  bench.ring(queue);
  bench.run(10_us);
  auto remove = command_of(ManagementOpcode::kRemoveQueue);
  remove.queue = queue.id;
  bench.post(remove);
  bench.run(20_us);
  EXPECT_FALSE(bench.answered());
  bench.run(40_us);
  EXPECT_TRUE(bench.answered());
  EXPECT_EQ(bench.tags(queue), std::vector<std::uint32_t>{1});
  EXPECT_EQ(bench.descriptor(queue).read_index, 1U);
}

TEST(CommandManage, ResetGivesUpWhatRunsAndAnswersWhenNoAccessIsInFlight) {
  CommandBench bench;
  auto queue = bench.make();
  auto other = bench.make({2});
  bench.push(queue, spin(bench, 1, 1, 900'000'000, 16));  // 0.9 s
  bench.push(queue, fill(2, kData + 4096, 1_MiB, 3));
  bench.ring(queue);
  bench.run(10_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, queue, PreemptMode::kReset).status, 0U);
  EXPECT_TRUE(bench.command.idle());
  bench.device.keep_record = true;
  bench.run(1_ms);
  EXPECT_TRUE(bench.device.seen.empty());
  EXPECT_TRUE(bench.tags(queue).empty());
  bench.submit(other, spin(bench, 2, 3, 10, 8));
  bench.run(20_us);
  EXPECT_EQ(bench.tags(other).size(), 1U) << "all cores are free again";
}

TEST(CommandManage, ResetEndsAWaitThatNobodyMeets) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, entry_of(QueueOpcode::kEventWait, 1, abi::WaitPayload{0, 0, 1, 0}));
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kRemoveQueue, queue, PreemptMode::kReset).status, 0U);
  EXPECT_TRUE(bench.command.idle());
}

TEST(CommandManage, SuspendReachesAllQueuesOfAProcessAndOnlyThose) {
  CommandBench bench;
  std::vector<TestQueue> mine{bench.make({1}), bench.make({1}), bench.make({1})};
  auto other = bench.make({2});
  auto suspend = command_of(ManagementOpcode::kSuspend);
  suspend.scope = static_cast<std::uint8_t>(abi::ManagementScope::kProcess);
  suspend.pasid = 101;
  EXPECT_EQ(bench.manage(suspend).status, 0U);
  for (auto& queue : mine) bench.submit(queue, nop(1));
  bench.submit(other, nop(1));
  bench.run(50_us);
  for (auto& queue : mine) EXPECT_TRUE(bench.tags(queue).empty());
  EXPECT_EQ(bench.tags(other).size(), 1U);
  suspend.opcode = static_cast<std::uint8_t>(ManagementOpcode::kResume);
  EXPECT_EQ(bench.manage(suspend).status, 0U);
  bench.run(50_us);
  for (auto& queue : mine) EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandManage, QueryWritesTheStateOfAQueueThatRuns) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, spin(bench, 1, 1, 100'000, 1));
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kQueryQueue, queue).detail, 1U);
  const auto state = bench.descriptor(queue);
  EXPECT_EQ(state.state, 1U);
  EXPECT_EQ(state.read_index, 1U);
  EXPECT_EQ(state.doorbells, 1U);
}

TEST(CommandManage, TheWriteIndexInMemoryCountsWhenTheQueueIsLoaded) {
  CommandBench bench;
  bench.map_process(1);
  auto queue = bench.describe({});
  queue.mqd.write_index_address = queue.mqd.read_index_address + 8;
  EXPECT_EQ(bench.add(queue).status, 0U);
  for (std::uint32_t i = 0; i < 3; ++i) bench.push(queue, nop(i));
  bench.host.store(queue.mqd.write_index_address, std::uint64_t{3});
  bench.doorbell(queue, 1);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 3U);
}

TEST(CommandManage, ADoorbellBeyondTheRingHaltsManagement) {
  CommandBench bench;
  bench.enable();
  bench.write(abi::ManagementDoorbell::from_raw(17));
  bench.run(1_us);
  using Status = abi::ManagementStatusRegister;
  EXPECT_EQ(bench.read<Status>().get<Status::Halted>(), 1U);
  EXPECT_EQ(bench.interrupts_of(60), 1U);
}

TEST(CommandManage, AFunctionResetForgetsEverything) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, spin(bench, 1, 1, 100'000, 8));
  bench.push(queue, fill(2, kData + 4096, 1_MiB, 3, 0));
  bench.ring(queue);
  bench.run(5_us);
  bench.registers.function_reset(0);
  bench.dma.function_reset(0);
  bench.mmu.function_reset(0);
  bench.command.function_reset(0);
  bench.aicores.function_reset(0);
  bench.run(1_ms);
  EXPECT_TRUE(bench.tags(queue).empty());
  EXPECT_TRUE(bench.command.idle());
  EXPECT_EQ(bench.read<abi::QueueCapability>().get<abi::QueueCapability::Slots>(), 4U);
  EXPECT_EQ(bench.sim.pool.in_use(), 0U);
}

}  // namespace
}  // namespace npu::test
