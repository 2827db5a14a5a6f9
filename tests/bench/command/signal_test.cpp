// SPDX-License-Identifier: Apache-2.0
// Event record and wait, timestamps.
#include "command_bench.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

QueueEntry record(std::uint32_t tag, unsigned slot, std::uint64_t value) {
  return entry_of(QueueOpcode::kEventRecord, tag, abi::SignalPayload{slot, 0, value});
}
QueueEntry wait_for(std::uint32_t tag, unsigned slot, std::uint64_t value,
                    std::uint64_t timeout_ns = 0,
                    abi::WaitCondition condition = abi::WaitCondition::kReached) {
  return entry_of(QueueOpcode::kEventWait, tag,
                  abi::WaitPayload{slot, static_cast<std::uint32_t>(condition), value, timeout_ns});
}

class CommandSignals : public testing::TestWithParam<bool> {};  // in host memory

TEST_P(CommandSignals, AQueueWaitsForAnotherOneWithoutTheHost) {
  CommandBench bench;
  auto first = bench.make({1, 6, GetParam()});
  auto second = bench.make({1, 6, GetParam()});
  bench.push(second, wait_for(1, 3, 7));
  bench.push(second, nop(2));
  bench.ring(second);
  bench.run(50_us);
  EXPECT_TRUE(bench.tags(second).empty());
  bench.push(first, fill(1, kData, 64_KiB, 9));
  bench.push(first, record(2, 3, 7));
  bench.ring(first);
  bench.run(1_ms);
  EXPECT_EQ(bench.signal(first, 3), 7U);
  EXPECT_EQ(bench.tags(first), (std::vector<std::uint32_t>{1, 2})) << "recorded behind the fill";
  EXPECT_EQ(bench.tags(second), (std::vector<std::uint32_t>{1, 2}));
}

TEST_P(CommandSignals, AValueThatIsThereAlreadyDoesNotWait) {
  CommandBench bench;
  auto queue = bench.make({1, 6, GetParam()});
  bench.set_signal(queue, 5, 100);
  bench.push(queue, wait_for(1, 5, 100));
  bench.push(queue, wait_for(2, 5, 99));
  bench.push(queue, wait_for(3, 5, 100, 0, abi::WaitCondition::kEqual));
  bench.push(queue, wait_for(4, 5, 0, 0, abi::WaitCondition::kNotEqual));
  bench.ring(queue);
  bench.run(50_us);
  EXPECT_EQ(bench.tags(queue).size(), 4U);
}

TEST_P(CommandSignals, TheHostWakesAWaiterByTheSignalDoorbell) {
  CommandBench bench;
  auto queue = bench.make({1, 6, GetParam()});
  bench.submit(queue, wait_for(1, 5, 1));
  bench.run(50_us);
  bench.set_signal(queue, 5, 1);
  bench.run(50_us);
  EXPECT_TRUE(bench.tags(queue).empty()) << "nobody has told the card";
  bench.doorbell(1, abi::kSignalDoorbell, 4);
  bench.run(50_us);
  EXPECT_TRUE(bench.tags(queue).empty()) << "another slot";
  bench.doorbell(1, abi::kSignalDoorbell, 5);
  bench.run(50_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
  EXPECT_EQ(bench.faults(), 0U);
}

TEST_P(CommandSignals, TheSignalDoorbellRaisesTheProcessVectorIfAsked) {
  CommandBench bench;
  auto queue = bench.make({1, 6, GetParam()});
  bench.submit(queue, wait_for(1, 5, 1));
  bench.run(50_us);
  bench.set_signal(queue, 5, 1);
  const auto before = bench.command.statistics().interrupts;
  bench.doorbell(1, abi::kSignalDoorbell, 5 | abi::kSignalWakesHost);
  bench.run(50_us);
  EXPECT_EQ(bench.command.statistics().interrupts, before + 1);
  EXPECT_EQ(bench.tags(queue).size(), 1U) << "and the waiter has looked";
}

INSTANTIATE_TEST_SUITE_P(Memory, CommandSignals, testing::Bool());

// The record comes at every moment around the waiter's read: none is lost.
TEST(CommandSignal, NoWakeUpIsLost) {
  CommandBench bench;
  bench.device.sample_early = true;
  auto first = bench.make({1, 6, false});
  auto second = bench.make({1, 6, false});
  bench.submit(first, nop(0));
  bench.submit(second, nop(0));
  bench.run(20_us);
  bench.tags(first), bench.tags(second);
  for (std::uint32_t i = 1; i <= 200; ++i) {
    const bool record_first = i % 2 == 0;
    if (record_first) bench.submit(first, record(i, 0, i));
    if (!record_first) bench.submit(second, wait_for(i, 0, i));
    bench.run(Picoseconds(std::int64_t{i} * 1'000));
    if (!record_first) bench.submit(first, record(i, 0, i));
    if (record_first) bench.submit(second, wait_for(i, 0, i));
    bench.run(20_us);
    ASSERT_EQ(bench.tags(second), std::vector<std::uint32_t>{i}) << i;
    ASSERT_EQ(bench.tags(first), std::vector<std::uint32_t>{i});
  }
}

TEST(CommandSignal, ATimeOutIsAStatusAndTheQueueGoesOn) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, wait_for(1, 0, 1, 30'000));
  bench.push(queue, nop(2));
  bench.ring(queue);
  bench.run(28_us);
  EXPECT_TRUE(bench.tags(queue).empty());
  bench.run(10_us);
  const auto completion = must(bench.completion(queue));
  EXPECT_EQ(completion.status, static_cast<int>(FaultCode::kWaitTimeout));
  EXPECT_EQ(bench.tags(queue), std::vector<std::uint32_t>{2});
  EXPECT_EQ(bench.faults(), 0U);
}

// A wait is looked at as often as it is told to, but has one end only.
TEST(CommandSignal, LooksThatDoNotEndAWaitLeaveNothingBehind) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, wait_for(1, 5, 1, 1'000'000'000));
  bench.run(50_us);
  const auto pending = bench.sim.agenda.pending();
  for (unsigned i = 0; i < 100; ++i) {
    bench.doorbell(1, abi::kSignalDoorbell, 5);
    bench.run(5_us);
  }
  EXPECT_EQ(bench.sim.agenda.pending(), pending);
  bench.run(1_s);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandSignal, WaitersGiveTheirSlotsAwayAndComeBackWhenTheyAreWoken) {
  auto config = command_chip_config();  // 4 slots
  config.command.quantum = 1_s;
  CommandBench bench(config);
  std::vector<TestQueue> waiters;
  for (unsigned i = 0; i < 8; ++i) {
    waiters.push_back(bench.make({1, 6, false}));
    bench.submit(waiters.back(), wait_for(i, i, 1));
  }
  auto worker = bench.make({1, 6, false});
  bench.run(100_us);
  for (unsigned i = 0; i < 8; ++i) bench.push(worker, record(i, i, 1));
  bench.ring(worker);
  bench.run(200_us);
  EXPECT_EQ(bench.tags(worker).size(), 8U) << "all slots were taken by waiters";
  for (auto& waiter : waiters) EXPECT_EQ(bench.tags(waiter).size(), 1U);
}

TEST(CommandSignal, AWaiterOutOfItsSlotTimesOut) {
  CommandBench bench;
  auto waiter = bench.make();
  bench.submit(waiter, wait_for(1, 0, 1, 300'000));
  bench.run(20_us);
  for (unsigned i = 1; i <= 4; ++i) {
    auto queue = bench.make();
    bench.submit(queue, wait_for(1, i, 1));
    bench.run(1_us);
  }
  EXPECT_TRUE(bench.tags(waiter).empty());
  EXPECT_EQ(bench.descriptor(waiter).maps, 1U) << "unloaded";
  bench.run(300_us);
  const auto completion = must(bench.completion(waiter));
  EXPECT_EQ(completion.status, static_cast<int>(FaultCode::kWaitTimeout));
}

TEST(CommandSignal, ProcessesHaveSignalsOfTheirOwn) {
  CommandBench bench;
  auto mine = bench.make({1, 6, false});
  auto other = bench.make({2, 6, false});
  EXPECT_EQ(mine.mqd.signal_base, other.mqd.signal_base) << "the same virtual address";
  bench.submit(mine, wait_for(1, 0, 1));
  bench.run(20_us);
  bench.submit(other, record(1, 0, 1));
  bench.doorbell(2, abi::kSignalDoorbell, 0);
  bench.run(50_us);
  EXPECT_TRUE(bench.tags(mine).empty());
  EXPECT_EQ(bench.signal(mine, 0), 0U);
}

TEST(CommandSignal, TimestampsAreDeviceTimeAfterWhatIsBefore) {
  CommandBench bench;
  auto queue = bench.make();
  const std::uint64_t host = bench.host_share(1, 1_MiB);
  bench.push(queue, entry_of(QueueOpcode::kTimestamp, 1, abi::TimestampPayload{host},
                             abi::kEntryHostAddress));
  bench.push(queue, fill(2, kData, 256_KiB, 1, abi::kEntryBarrier));
  bench.push(queue, entry_of(QueueOpcode::kTimestamp, 3, abi::TimestampPayload{kVirtual + kData}));
  bench.ring(queue);
  bench.run(1_ms);
  const auto begin = bench.host.load<std::uint64_t>(host);
  const auto end = bench.device.load<std::uint64_t>(bench.partition(1, kData));
  EXPECT_GT(begin, 0U);
  EXPECT_GE(end, begin + 40 + 50) << "the engine's setup and a write";
  EXPECT_LE(end, bench.read<abi::DeviceTime>().raw);
}

}  // namespace
}  // namespace npu::test
