// SPDX-License-Identifier: Apache-2.0
// Queues whose descriptor is changed or asked for while they have something to do.
#include "command_bench.hpp"

namespace npu::test {
namespace {

using abi::ManagementOpcode;
using abi::ManagementStatus;

// What the driver changes, with the card's half as it is.
template <class Change>
void change_driver_half(CommandBench& bench, const TestQueue& queue, Change change) {
  auto mqd = bench.descriptor(queue);
  change(mqd);
  bench.device.store(kDescriptors + 256 * queue.id, mqd);
}

TEST(CommandChange, AWaitGoesOnWithTheSignalsOfTheNewDescriptor) {
  CommandBench bench;
  auto queue = bench.make({1, 6, false});
  bench.set_signal(queue, 3 + 8, 1);  // slot 3 of signals 64 bytes further on
  bench.submit(queue, entry_of(QueueOpcode::kEventWait, 1, abi::WaitPayload{3, 0, 1, 0}));
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kSuspend, queue).status, 0U);
  change_driver_half(bench, queue, [](auto& mqd) { mqd.signal_base += 64; });
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandChange, AWaitThatIsOverItsTimeWhileSuspendedEndsAfterResume) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, entry_of(QueueOpcode::kEventWait, 1, abi::WaitPayload{3, 0, 1, 30'000}));
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kSuspend, queue).status, 0U);
  bench.run(100_us);
  EXPECT_TRUE(bench.tags(queue).empty());
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(20_us);
  const auto completion = bench.completion(queue);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->status, static_cast<int>(FaultCode::kWaitTimeout));
}

TEST(CommandChange, ARingSmallerThanWhatIsLeftIsRefused) {
  CommandBench bench;
  auto queue = bench.make();
  bench.on_queue(ManagementOpcode::kSuspend, queue);
  for (std::uint32_t i = 0; i < 5; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  bench.run(1_us);
  change_driver_half(bench, queue, [](auto& mqd) { mqd.log2_ring = 2; });
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status,
            value(ManagementStatus::kInvalidDescriptor));
  change_driver_half(bench, queue, [](auto& mqd) { mqd.log2_ring = 3; });
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kResume, queue).status, 0U);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 5U);
}

TEST(CommandChange, UpdateDoesNotResume) {
  CommandBench bench;
  auto queue = bench.make();
  bench.on_queue(ManagementOpcode::kSuspend, queue);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kUpdateQueue, queue).detail, 2U);
  bench.submit(queue, nop(1));
  bench.run(50_us);
  EXPECT_TRUE(bench.tags(queue).empty());
  bench.on_queue(ManagementOpcode::kResume, queue);
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandChange, AQueueWhoseKernelIsSavedHasSomethingToDo) {
  auto config = command_chip_config();
  config.command.slots = 1;
  config.ai_cores = 1;
  config.command.quantum = 100_us;
  CommandBench bench(config);
  auto first = bench.make();
  auto second = bench.make();
  bench.submit(first, spin(bench, 1, 1, 5000, 30));
  bench.run(50_us);
  bench.submit(second, spin(bench, 1, 2, 1001, 30));
  bench.run(80_us);
  ASSERT_EQ(bench.descriptor(first).saved, 1) << "the second one works";
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kQueryQueue, first).detail, 1U);
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(first).size(), 1U);
  EXPECT_EQ(bench.on_queue(ManagementOpcode::kQueryQueue, first).detail, 0U);
}

TEST(CommandChange, TimeInASlotIsKnownWhileItLasts) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, spin(bench, 1, 1, 1'000'000, 1));
  bench.run(500_us);
  bench.on_queue(ManagementOpcode::kQueryQueue, queue);
  EXPECT_NEAR(static_cast<double>(bench.descriptor(queue).active_ns), 500'000, 1'500);
  bench.run(2_ms);
  bench.on_queue(ManagementOpcode::kSuspend, queue);
  EXPECT_NEAR(static_cast<double>(bench.descriptor(queue).active_ns), 2'520'000, 2'000);
}

TEST(CommandChange, AProcessWhoseTablesCannotBeEnteredIsNotMapped) {
  CommandBench bench;
  bench.enable();
  bench.write(abi::MmuContextBase::from_raw(kInstalled));  // no memory there
  abi::ManagementCommand map;
  map.opcode = static_cast<std::uint8_t>(ManagementOpcode::kMapProcess);
  map.pasid = 5, map.vmid = 9, map.page = 2, map.address = 0x1234'5000;
  EXPECT_EQ(bench.manage(map).status, value(ManagementStatus::kInvalidProcess));
  bench.write(abi::MmuContextBase::from_raw(kUsable + abi::kReservedContextOffset));
  EXPECT_EQ(bench.manage(map).status, 0U) << "neither PASID nor VMID nor page are in use";
}

}  // namespace
}  // namespace npu::test
