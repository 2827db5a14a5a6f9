// SPDX-License-Identifier: Apache-2.0
// Doorbells: sizes, halves, indices, and whose they are.
#include "command_bench.hpp"

namespace npu::test {
namespace {

// A queue that has executed `count` entries since it was made, whatever the size of its ring.
TestQueue old_queue(CommandBench& bench, std::uint64_t count) {
  EXPECT_EQ(bench.map_process(1).status, 0U);
  auto queue = bench.describe({});
  queue.mqd.read_index = queue.mqd.write_index = queue.mqd.completion_index = count;
  queue.written = queue.read = count;
  for (std::uint64_t i = count; i < count + 64; ++i) {  // what the pass before left behind
    abi::QueueCompletion old;
    old.phase = static_cast<std::uint16_t>(1 - abi::completion_phase(i, 6));
    bench.host.store(queue.mqd.completion_base + 16 * (i % 64), old);
  }
  EXPECT_EQ(bench.add(queue).status, 0U);
  return queue;
}

std::size_t done(CommandBench& bench, TestQueue& queue) {
  bench.run(20_us);
  return bench.tags(queue).size();
}

using CommandDoorbell = OnBench<CommandBench>;

TEST_F(CommandDoorbell, FourBytesCountAcrossTheirWrap) {
  auto queue = old_queue(bench, 0xFFFF'FFFE);
  for (std::uint32_t i = 0; i < 5; ++i) bench.push(queue, nop(i));
  bench.doorbell(queue, queue.written & 0xFFFF'FFFF, 4);
  EXPECT_EQ(done(bench, queue), 5U);
  EXPECT_EQ(bench.faults(), 0U);
}

TEST_F(CommandDoorbell, HalvesInEitherOrderMeanTheSameAsOneStore) {
  auto queue = old_queue(bench, 0xFFFF'FFFE);
  for (std::uint32_t i = 0; i < 5; ++i) bench.push(queue, nop(i));
  bench.doorbell(queue, 1, 4, 4);
  EXPECT_EQ(done(bench, queue), 0U) << "the high half alone does nothing";
  bench.doorbell(queue, queue.written & 0xFFFF'FFFF, 4);
  EXPECT_EQ(done(bench, queue), 5U);
  for (std::uint32_t i = 0; i < 3; ++i) bench.push(queue, nop(i));
  bench.doorbell(queue, queue.written & 0xFFFF'FFFF, 4);
  bench.doorbell(queue, queue.written >> 32, 4, 4);
  EXPECT_EQ(done(bench, queue), 3U);
  EXPECT_EQ(bench.faults(), 0U);
}

TEST_F(CommandDoorbell, EightBytesAreTheWholeIndex) {
  auto queue = old_queue(bench, 0x1'0000'0000);
  bench.push(queue, nop(1));
  bench.doorbell(queue, 0x1'0000'0001);
  EXPECT_EQ(done(bench, queue), 1U);
  bench.doorbell(queue, 2);  // its high half says 4 G before
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).code, 0x31);
}

TEST_F(CommandDoorbell, ManyRingsOfOneIndexAreOneWork) {
  auto queue = bench.make();
  bench.push(queue, nop(1));
  for (unsigned i = 0; i < 10; ++i) bench.ring(queue);
  EXPECT_EQ(done(bench, queue), 1U);
  EXPECT_EQ(bench.command.statistics().fetches, 1U);
}

TEST_F(CommandDoorbell, GoingBackwardsStopsTheQueue) {
  auto queue = bench.make();
  for (std::uint32_t i = 0; i < 4; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  EXPECT_EQ(done(bench, queue), 4U);
  bench.doorbell(queue, 3);
  bench.run(20_us);
  const auto fault = bench.fault(1);
  EXPECT_EQ(fault.code, static_cast<int>(FaultCode::kIndexBackwards));
  EXPECT_EQ(fault.address, 3U);
  EXPECT_EQ(fault.queue, queue.id);
  EXPECT_EQ(bench.interrupts_of(1), 1U);
  bench.submit(queue, nop(9));
  EXPECT_EQ(done(bench, queue), 0U) << "it is stopped";
  EXPECT_EQ(bench.descriptor(queue).state, 3U);
  EXPECT_EQ(bench.descriptor(queue).error, 0x31);
}

TEST_F(CommandDoorbell, AFullRingIsFineAndOneMoreIsNot) {
  auto queue = bench.make({1, 4});
  for (std::uint32_t i = 0; i < 16; ++i) bench.push(queue, nop(i));
  bench.ring(queue);
  EXPECT_EQ(done(bench, queue), 16U);
  bench.doorbell(queue, 16 + 17);
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).code, static_cast<int>(FaultCode::kIndexBeyondRing));
  EXPECT_EQ(done(bench, queue), 0U) << "nothing of it was executed";
}

TEST_F(CommandDoorbell, OfNoQueueIsRecordedWithTheProcessWhosePageItIs) {
  auto mine = bench.make({1});
  auto other = bench.make({2});
  bench.doorbell(2, 77, 1);  // process 2 rings what nobody has
  bench.run(20_us);
  const auto fault = bench.fault(1);
  EXPECT_EQ(fault.number, 1U);
  EXPECT_EQ(fault.code, static_cast<int>(FaultCode::kDoorbellUnowned));
  EXPECT_EQ(fault.pasid, 102U);
  EXPECT_EQ(fault.page, 2);
  EXPECT_EQ(fault.doorbell, 77);
  EXPECT_EQ(fault.queue, abi::kNoQueue);
  EXPECT_EQ(bench.interrupts_of(2), 1U);
  bench.submit(mine, nop(1));
  bench.submit(other, nop(2));
  EXPECT_EQ(done(bench, mine), 1U);
  EXPECT_EQ(done(bench, other), 1U);
}

TEST_F(CommandDoorbell, OfAPageThatIsNobodysGoesToTheDriver) {
  bench.make();
  bench.doorbell(5, 0, 1);
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).pasid, 0U);
  EXPECT_EQ(bench.fault(1).page, 5);
  EXPECT_EQ(bench.interrupts_of(60), 1U);
}

TEST_F(CommandDoorbell, AccessesOfOtherSizesAreRefused) {
  auto queue = bench.make();
  bench.push(queue, nop(1));
  bench.doorbell(queue, 1, 16);
  EXPECT_NE(bench.doorbell_status, tlm::TLM_OK_RESPONSE);
  bench.doorbell(queue, 1, 2);
  EXPECT_NE(bench.doorbell_status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(done(bench, queue), 0U);
  EXPECT_EQ(bench.fault(2).code, static_cast<int>(FaultCode::kDoorbellUnowned));
}

TEST_F(CommandDoorbell, APageOnlyRingsQueuesOfItsOwnProcess) {
  auto mine = bench.make({1});
  auto other = bench.make({2});
  bench.push(mine, nop(1));
  bench.push(other, nop(2));
  bench.doorbell(2, other.mqd.doorbell, 1);
  EXPECT_EQ(mine.mqd.doorbell, other.mqd.doorbell) << "same number, another page";
  EXPECT_EQ(done(bench, mine), 0U);
  EXPECT_EQ(done(bench, other), 1U);
}

}  // namespace
}  // namespace npu::test
