// SPDX-License-Identifier: Apache-2.0
// Faults of entries and of queues: recorded, told to the owner, that queue stopped, no other one.
#include "command_bench.hpp"

namespace npu::test {
namespace {

struct Case {
  const char* name;
  FaultCode code;
  QueueEntry entry;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

QueueEntry with(QueueEntry entry, std::uint8_t format, std::uint16_t more_flags) {
  entry.format = format;
  entry.flags = static_cast<std::uint16_t>(entry.flags | more_flags);
  return entry;
}

QueueEntry with_function(std::uint32_t function) {
  auto entry = launch(5, kSpin, 1, kData);
  auto payload = entry.get<abi::LaunchPayload>();
  payload.function = function;
  entry.set(payload);
  return entry;
}

constexpr std::uint64_t kUnmapped = kVirtual + kShare;
constexpr std::uint64_t kForeignHost = 2 * kHostShare + 1_MiB;  // of process 2
constexpr std::uint64_t kPeer = kVirtual + 2 * kShare;          // of a card that has no link
constexpr Bytes kPeerArguments = kData + 1_MiB;                 // of a kernel that writes there

std::vector<Case> cases_of_cards_together() {
  using Op = QueueOpcode;
  return {
      {"reduction of a type that engines cannot", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToDevice, 5,
                abi::ReducePayload{kVirtual, kVirtual + kData, 64, 1, 6, 0, 0})},
      {"product", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToDevice, 5,
                abi::ReducePayload{kVirtual, kVirtual + kData, 64, 4, 5, 0, 0})},
      {"reduction of half an element", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToDevice, 5,
                abi::ReducePayload{kVirtual, kVirtual + kData, 66, 1, 5, 0, 0})},
      {"reduction into host memory", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToHost, 5, abi::ReducePayload{kVirtual, 0, 64, 1, 5, 0, 0})},
      {"signal in memory of a copy", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{kVirtual, kVirtual + kData, 64},
                abi::kEntryCompletion | abi::kEntryMemorySignal)},
      {"signal in memory, unaligned", FaultCode::kMalformedEntry,
       entry_of(Op::kEventRecord, 5, abi::MemorySignalPayload{0, 0, 1, kVirtual + kData + 4},
                abi::kEntryCompletion | abi::kEntryMemorySignal)},
      {"signal in memory, unmapped", FaultCode::kTranslation,
       entry_of(Op::kEventRecord, 5, abi::MemorySignalPayload{0, 0, 1, kUnmapped},
                abi::kEntryCompletion | abi::kEntryMemorySignal)},
      {"wait for memory that is unmapped", FaultCode::kTranslation,
       entry_of(Op::kEventWait, 5, abi::MemoryWaitPayload{0, 0, 1, 0, kUnmapped},
                abi::kEntryCompletion | abi::kEntryMemorySignal)},
  };
}

std::vector<Case> cases() {
  using Op = QueueOpcode;
  return {
      {"opcode", FaultCode::kMalformedEntry, entry_of(static_cast<Op>(0x77), 5)},
      {"zeros", FaultCode::kMalformedEntry, QueueEntry{}},
      {"format", FaultCode::kMalformedEntry, with(nop(5), 2, 0)},
      {"flags", FaultCode::kMalformedEntry, with(nop(5), 1, 0x8000)},
      {"size 0", FaultCode::kMalformedEntry,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{kVirtual, kVirtual, 0})},
      {"fill unaligned", FaultCode::kMalformedEntry, fill(5, kData + 2, 64, 1)},
      {"no blocks", FaultCode::kMalformedEntry, launch(5, kSpin, 0, kData)},
      {"wait condition", FaultCode::kMalformedEntry,
       entry_of(Op::kEventWait, 5, abi::WaitPayload{0, 3, 0, 0})},
      {"copy from unmapped", FaultCode::kTranslation,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{kUnmapped, kVirtual, 64})},
      {"fill unmapped", FaultCode::kTranslation, fill(5, kShare, 64, 1)},
      {"beyond the address space", FaultCode::kDeviceAddress,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{~0ULL << 50, kVirtual, 64})},
      {"wraps", FaultCode::kInvalidSize,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{~0ULL - 7, kVirtual, 64})},
      {"read foreign host memory", FaultCode::kHostAddress,
       entry_of(Op::kHostToDevice, 5, abi::CopyPayload{kForeignHost, kVirtual + kData, 64})},
      {"write foreign host memory", FaultCode::kHostAddress,
       entry_of(Op::kDeviceToHost, 5, abi::CopyPayload{kVirtual + kData, kForeignHost, 64})},
      {"write to a peer that cannot be reached", FaultCode::kNoPeer,
       entry_of(Op::kPeerToPeer, 5, abi::CopyPayload{kVirtual + kData, kPeer, 64})},
      {"read from a peer that cannot be reached", FaultCode::kNoPeer,
       entry_of(Op::kDeviceToDevice, 5, abi::CopyPayload{kPeer, kVirtual + kData, 64})},
      {"kernel writes to such a peer", FaultCode::kNoPeer,
       launch(5, kElementwise, 1, kPeerArguments)},
      {"peer's memory that is not mapped", FaultCode::kTranslation,
       entry_of(Op::kPeerToPeer, 5, abi::CopyPayload{kVirtual + kData, kPeer + 2_MiB, 64})},
      {"signal slot", FaultCode::kInvalidSignal,
       entry_of(Op::kEventRecord, 5, abi::SignalPayload{64, 0, 1})},
      {"wait slot", FaultCode::kInvalidSignal,
       entry_of(Op::kEventWait, 5, abi::WaitPayload{64, 0, 0, 0})},
      {"timestamp unmapped", FaultCode::kTranslation,
       entry_of(Op::kTimestamp, 5, abi::TimestampPayload{kUnmapped})},
      {"timestamp to foreign host memory", FaultCode::kHostAddress,
       entry_of(Op::kTimestamp, 5, abi::TimestampPayload{kForeignHost},
                abi::kEntryCompletion | abi::kEntryHostAddress)},
      {"arguments unmapped", FaultCode::kTranslation, launch(5, kSpin, 4, kShare)},
      {"function", FaultCode::kInvalidFunction, with_function(99)},
      {"no program", FaultCode::kInvalidFunction,
       entry_of(Op::kLaunchAiCore, 5, abi::LaunchPayload{0, 1, kVirtual, 0, 0, 0})},
      {"no program for AICPUs", FaultCode::kInvalidFunction,
       entry_of(Op::kLaunchAicpu, 5, abi::LaunchPayload{0, 1, kVirtual, 0, 0, 0})},
      {"image unmapped", FaultCode::kTranslation, launch(5, kShare, 4, kData)},
      {"image that is none", FaultCode::kInvalidImage, launch(5, kData, 4, kData)},
      {"image of an AICPU", FaultCode::kInvalidImage, launch(5, kNoteThread, 4, kData)},
  };
}

class CommandFaults : public testing::TestWithParam<Case> {};

TEST_P(CommandFaults, StopTheQueueAndNoOther) {
  CommandBench bench;
  auto culprit = bench.make({1});
  auto sibling = bench.make({1});
  auto other = bench.make({2});
  bench.host.store(kForeignHost, std::uint64_t{0x1234});
  bench.tables.map(1, kPeer, abi::PageTableEntry::peer_target(3, 0));
  bench.device.store(bench.partition(1, kPeerArguments), copy_words(kPeer, kVirtual, 16));
  bench.push(culprit, GetParam().entry);
  bench.push(culprit, nop(6, abi::kEntryCompletion | abi::kEntryBarrier));
  bench.ring(culprit);
  for (std::uint32_t i = 0; i < 5; ++i) {
    bench.submit(sibling, nop(i));
    bench.submit(other, nop(i));
  }
  bench.run(1_ms);
  const auto completion = bench.completion(culprit);
  ASSERT_TRUE(completion);
  EXPECT_EQ(completion->tag, GetParam().entry.tag);
  EXPECT_EQ(completion->status, static_cast<int>(GetParam().code));
  EXPECT_FALSE(bench.completion(culprit)) << "nothing behind it is executed";
  const auto fault = bench.fault(1);
  EXPECT_EQ(fault.code, static_cast<int>(GetParam().code));
  EXPECT_EQ(fault.pasid, 101U);
  EXPECT_EQ(fault.vmid, 1);
  EXPECT_EQ(fault.queue, culprit.id);
  EXPECT_EQ(fault.index, 0U);
  EXPECT_EQ(fault.tag, GetParam().entry.tag);
  EXPECT_GE(bench.interrupts_of(1), 1U);
  EXPECT_EQ(bench.interrupts_of(2), 0U);
  EXPECT_EQ(bench.tags(sibling).size(), 5U);
  EXPECT_EQ(bench.tags(other).size(), 5U);
  EXPECT_EQ(bench.descriptor(culprit).state, 3U);
  EXPECT_EQ(bench.descriptor(culprit).error, static_cast<int>(GetParam().code));
  EXPECT_EQ(bench.host.load<std::uint64_t>(kForeignHost), 0x1234U);
  EXPECT_TRUE(bench.command.idle());
}

// An entry that says so is complete with its fault, and what is behind it runs; but one that is
// malformed stops the queue, whatever its flags are.
TEST_P(CommandFaults, GoOnWhereTheEntryLetsThem) {
  CommandBench bench;
  auto culprit = bench.make({1});
  bench.tables.map(1, kPeer, abi::PageTableEntry::peer_target(3, 0));
  bench.device.store(bench.partition(1, kPeerArguments), copy_words(kPeer, kVirtual, 16));
  const auto entry = with(GetParam().entry, GetParam().entry.format, abi::kEntryContinueOnError);
  for (unsigned i = 0; i < 3; ++i) {
    bench.push(culprit, entry);
    bench.push(culprit, nop(6 + i, abi::kEntryCompletion | abi::kEntryBarrier));
  }
  bench.ring(culprit);
  bench.run(1_ms);
  const bool stops = GetParam().code == FaultCode::kMalformedEntry;
  for (unsigned i = 0; i < 3; ++i) {
    const auto failed = bench.completion(culprit);
    ASSERT_TRUE(failed) << i;
    EXPECT_EQ(failed->status, static_cast<int>(GetParam().code));
    EXPECT_EQ(failed->phase & abi::kCompletionContinued, stops ? 0 : abi::kCompletionContinued);
    const auto fault = bench.fault(i + 1);
    EXPECT_EQ(fault.code, static_cast<int>(GetParam().code));
    EXPECT_EQ(fault.index, 2 * i);
    EXPECT_EQ(fault.flags & abi::kFaultContinued, stops ? 0 : abi::kFaultContinued);
    const auto behind = bench.completion(culprit);
    if (stops) {
      EXPECT_FALSE(behind);
      break;
    }
    ASSERT_TRUE(behind) << i;
    EXPECT_EQ(behind->tag, 6 + i);
    EXPECT_EQ(behind->status, 0);
  }
  EXPECT_EQ(bench.on_queue(abi::ManagementOpcode::kQueryQueue, culprit).status, 0U);
  EXPECT_EQ(bench.descriptor(culprit).state, stops ? 3U : 0U);
  EXPECT_TRUE(bench.command.idle());
}

INSTANTIATE_TEST_SUITE_P(All, CommandFaults, testing::ValuesIn(cases()));
INSTANTIATE_TEST_SUITE_P(OfCardsTogether, CommandFaults,
                         testing::ValuesIn(cases_of_cards_together()));

TEST(CommandFault, AQueueAtFaultIsRemovedAndAddedAnew) {
  CommandBench bench;
  auto queue = bench.make();
  bench.submit(queue, QueueEntry{});
  bench.run(20_us);
  EXPECT_EQ(bench.on_queue(abi::ManagementOpcode::kRemoveQueue, queue).status, 0U);
  queue.written = queue.read = 0;
  for (unsigned i = 0; i < 64; ++i)
    bench.host.store(queue.mqd.completion_base + 16 * i, abi::QueueCompletion{});
  EXPECT_EQ(bench.add(queue).status, 0U);
  bench.submit(queue, nop(1));
  bench.run(20_us);
  EXPECT_EQ(bench.tags(queue).size(), 1U);
}

TEST(CommandFault, ARingThatCannotBeReadIsAFault) {
  CommandBench bench;
  bench.map_process(1);
  auto queue = bench.describe({});
  queue.mqd.ring_base = kForeignHost;
  bench.add(queue);
  bench.ring(queue);
  bench.doorbell(queue, 1);
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).code, static_cast<int>(FaultCode::kRingFetch));
  EXPECT_EQ(bench.fault(1).flags, abi::kFaultHost);
}

TEST(CommandFault, CompletionRingAndSignalsOfAnotherProcessAreAFaultBeforeAnythingIsWritten) {
  for (const bool completions : {true, false}) {
    SCOPED_TRACE(completions);
    const auto code = completions ? FaultCode::kCompletionRing : FaultCode::kQueueMemory;
    static CommandBench bench;
    const unsigned before = static_cast<unsigned>(bench.faults());
    if (completions) bench.map_process(1);
    auto queue = bench.describe({});
    (completions ? queue.mqd.completion_base : queue.mqd.signal_base) = kForeignHost;
    bench.add(queue);
    bench.submit(queue, nop(1));
    bench.run(20_us);
    EXPECT_EQ(bench.fault(before + 1).code, static_cast<int>(code));
    EXPECT_EQ(bench.descriptor(queue).completed, 0U);
    EXPECT_EQ(bench.host.load<std::uint64_t>(kForeignHost), 0U);
  }
}

TEST(CommandFault, CompletionRingInUnmappedDeviceMemoryIsAFault) {
  CommandBench bench;
  bench.map_process(1);
  auto queue = bench.describe({1, 6, false});
  queue.mqd.completion_base = kUnmapped;
  bench.add(queue);
  bench.submit(queue, nop(1));
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).code, static_cast<int>(FaultCode::kCompletionRing));
  EXPECT_EQ(bench.fault(1).address, kUnmapped);
}

TEST(CommandFault, AMaskWithoutACoreIsAFault) {
  CommandBench bench;
  QueueSpec spec;
  spec.core_mask = std::uint64_t{1} << 40;  // of 8 cores
  auto queue = bench.make(spec);
  bench.submit(queue, launch(1, kSpin, 1, kData));
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).code, static_cast<int>(FaultCode::kInvalidCoreMask));
}

TEST(CommandFault, WhatRunsBesideTheFaultStillEnds) {
  CommandBench bench;
  auto queue = bench.make();
  bench.push(queue, fill(1, kData, 256_KiB, 0x55));
  bench.push(queue, QueueEntry{});
  bench.ring(queue);
  bench.run(1_ms);
  const auto tags = bench.tags(queue);
  EXPECT_EQ(tags, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kData + 256_KiB - 4)), 0x55U);
}

// One block is at fault at once, the other one works for long.
TEST(CommandFault, OfABlockStopsTheQueueWhileOthersStillRun) {
  CommandBench bench;
  auto queue = bench.make();
  constexpr std::uint64_t kHalf = 2_MiB;
  bench.device.store(bench.partition(1, kHalf - 4), 1U);
  bench.device.store(bench.partition(1, kData),
                     copy_words(kVirtual + kShare - kHalf, kVirtual, 2 * kHalf / 4));
  bench.submit(queue, launch(1, kElementwise, 2, kData));
  bench.run(5_us);
  EXPECT_EQ(bench.fault(1).code, static_cast<int>(FaultCode::kTranslation));
  bench.submit(queue, nop(2));
  bench.run(5_us);
  EXPECT_TRUE(bench.tags(queue).empty()) << "the kernel has not ended, nothing more is started";
  bench.run(1_ms);
  EXPECT_EQ(bench.tags(queue), std::vector<std::uint32_t>{1});
  EXPECT_EQ(bench.faults(), 1U);
  EXPECT_EQ(bench.device.load<std::uint32_t>(bench.partition(1, kShare - 4)), 1U)
      << "what runs ends";
}

TEST(CommandFault, TheLogWrapsAndIsCounted) {
  CommandBench bench;
  bench.make();
  for (unsigned i = 0; i < 65; ++i) bench.doorbell(1, 100 + i, 1);
  bench.run(20_us);
  EXPECT_EQ(bench.fault(1).number, 65U) << "over the first one";
  EXPECT_EQ(bench.fault(2).number, 2U);
  EXPECT_EQ(bench.read<abi::QueueFaultCount>().raw, 65U);
}

}  // namespace
}  // namespace npu::test
