// SPDX-License-Identifier: Apache-2.0
// Golden values of compute queues, typed by hand from docs/compute-queues.md and the ABI's own
// tables of byte offsets.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>

#include "npu/abi/fault.hpp"
#include "npu/abi/instruction_fault.hpp"
#include "npu/abi/queue.hpp"

namespace npu::abi {
namespace {

template <class T>
std::array<std::uint8_t, sizeof(T)> bytes_of(const T& value) {
  std::array<std::uint8_t, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
// Little endian.
std::uint64_t word(const std::uint8_t* bytes, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned i = width; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

TEST(GoldenQueue, Opcodes) {
  const std::pair<QueueOpcode, int> golden[] = {
      {QueueOpcode::kHostToDevice, 0x01},   {QueueOpcode::kDeviceToHost, 0x02},
      {QueueOpcode::kDeviceToDevice, 0x03}, {QueueOpcode::kPeerToPeer, 0x04},
      {QueueOpcode::kFill, 0x05},           {QueueOpcode::kPrefetch, 0x06},
      {QueueOpcode::kLaunchAiCore, 0x10},   {QueueOpcode::kLaunchAicpu, 0x11},
      {QueueOpcode::kEventRecord, 0x20},    {QueueOpcode::kEventWait, 0x21},
      {QueueOpcode::kNotify, 0x22},         {QueueOpcode::kBarrier, 0x23},
      {QueueOpcode::kTimestamp, 0x24},      {QueueOpcode::kNop, 0x30},
  };
  for (const auto& [opcode, value] : golden) {
    EXPECT_EQ(static_cast<int>(opcode), value);
    EXPECT_NE(to_string(opcode), "?");
  }
  EXPECT_EQ(to_string(static_cast<QueueOpcode>(0)), "?") << "a ring of zeros holds nothing";
}

TEST(GoldenQueue, EntryHeader) {
  QueueEntry entry;
  entry.opcode = 0x24;
  entry.flags = kEntryBarrier | kEntryHostAddress;
  entry.tag = 0xA1B2C3D4;
  entry.set(TimestampPayload{0x1122334455667788});
  const auto bytes = bytes_of(entry);
  const std::array<std::uint8_t, 16> expected = {0x24, 0x01, 0x09, 0x00, 0xD4, 0xC3, 0xB2, 0xA1,
                                                 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
  EXPECT_EQ(0, std::memcmp(bytes.data(), expected.data(), expected.size()));
  for (std::size_t i = 16; i < 64; ++i) EXPECT_EQ(bytes[i], 0) << i;
  EXPECT_EQ(entry.get<TimestampPayload>().address, 0x1122334455667788U);
}

TEST(GoldenQueue, EntryFlags) {
  EXPECT_EQ(kEntryBarrier, 1);
  EXPECT_EQ(kEntryCompletion, 2);
  EXPECT_EQ(kEntryInterrupt, 4);
  EXPECT_EQ(kEntryHostAddress, 8);
  EXPECT_EQ(kEntryContinueOnError, 16);
  EXPECT_EQ(kEntryMemorySignal, 32);
  EXPECT_EQ(kEntryFlags, 63);
  EXPECT_EQ(kCompletionPhase, 1);
  EXPECT_EQ(kCompletionContinued, 2);
  EXPECT_EQ(kFaultHost, 1);
  EXPECT_EQ(kFaultContinued, 2);
  EXPECT_EQ(kQueueEntryFormat, 1);
  EXPECT_EQ(kQueueEntrySize, 64U);
}

TEST(GoldenQueue, CopyAndFillPayload) {
  QueueEntry copy;
  copy.set(CopyPayload{0x1111, 0x2222, 0x3333});
  const auto c = bytes_of(copy);
  EXPECT_EQ(word(&c[8], 8), 0x1111U);
  EXPECT_EQ(word(&c[16], 8), 0x2222U);
  EXPECT_EQ(word(&c[24], 8), 0x3333U);
  QueueEntry fill;
  fill.set(FillPayload{0x4444, 0x5555, 0x66666666, 0});
  const auto f = bytes_of(fill);
  EXPECT_EQ(word(&f[8], 8), 0x4444U);
  EXPECT_EQ(word(&f[16], 8), 0x5555U);
  EXPECT_EQ(word(&f[24], 4), 0x66666666U);
}

TEST(GoldenQueue, ReducePayload) {
  QueueEntry entry;
  entry.set(ReducePayload{0x1111, 0x2222, 0x3333, 2, 5, 0, 0});
  const auto b = bytes_of(entry);
  EXPECT_EQ(word(&b[8], 8), 0x1111U);
  EXPECT_EQ(word(&b[16], 8), 0x2222U);
  EXPECT_EQ(word(&b[24], 8), 0x3333U);
  EXPECT_EQ(word(&b[32], 8), 0x0502U);
  EXPECT_EQ(static_cast<int>(ReduceOperation::kSum), 1);
  EXPECT_EQ(static_cast<int>(ReduceOperation::kMax), 2);
  EXPECT_EQ(static_cast<int>(ReduceOperation::kMin), 3);
  const std::pair<ElementType, int> types[] = {{ElementType::kInt8, 0},  {ElementType::kInt16, 1},
                                               {ElementType::kInt32, 2}, {ElementType::kFp16, 3},
                                               {ElementType::kBf16, 4},  {ElementType::kFp32, 5}};
  for (const auto& [type, value] : types) {
    EXPECT_EQ(static_cast<int>(type), value);
    EXPECT_TRUE(can_reduce(type, ReduceOperation::kMin));
    EXPECT_FALSE(can_reduce(type, ReduceOperation::kProduct));
  }
  EXPECT_FALSE(can_reduce(ElementType::kInt64, ReduceOperation::kSum));
  EXPECT_EQ(element_size(ElementType::kBf16), 2U);
  EXPECT_EQ(element_size(ElementType::kFp64), 8U);
}

TEST(GoldenQueue, LaunchPayload) {
  QueueEntry entry;
  entry.set(LaunchPayload{3, 24, 0x8000'0000'0040, 40, 5, 0x7000'0000'0080, 1, 20});
  const auto b = bytes_of(entry);
  EXPECT_EQ(word(&b[8], 4), 3U);
  EXPECT_EQ(word(&b[12], 4), 24U);
  EXPECT_EQ(word(&b[16], 8), 0x8000'0000'0040U);
  EXPECT_EQ(word(&b[24], 4), 40U);
  EXPECT_EQ(word(&b[28], 4), 5U);
  EXPECT_EQ(word(&b[32], 8), 0x7000'0000'0080U);
  EXPECT_EQ(word(&b[40], 4), 1U);
  EXPECT_EQ(word(&b[44], 4), 20U);
}

TEST(GoldenQueue, SignalAndWaitPayload) {
  QueueEntry record;
  record.set(SignalPayload{7, 0, 0x99});
  const auto r = bytes_of(record);
  EXPECT_EQ(word(&r[8], 4), 7U);
  EXPECT_EQ(word(&r[16], 8), 0x99U);
  QueueEntry wait;
  wait.set(WaitPayload{7, 2, 0x99, 1000});
  const auto w = bytes_of(wait);
  EXPECT_EQ(word(&w[8], 4), 7U);
  EXPECT_EQ(word(&w[12], 4), 2U);
  EXPECT_EQ(word(&w[16], 8), 0x99U);
  EXPECT_EQ(word(&w[24], 8), 1000U);
  EXPECT_EQ(static_cast<int>(WaitCondition::kReached), 0);
  EXPECT_EQ(static_cast<int>(WaitCondition::kEqual), 1);
  EXPECT_EQ(static_cast<int>(WaitCondition::kNotEqual), 2);
}

TEST(GoldenQueue, SignalsInMemory) {
  QueueEntry record;
  record.set(MemorySignalPayload{0, 0, 0x99, 0x7777});
  const auto r = bytes_of(record);
  EXPECT_EQ(word(&r[16], 8), 0x99U);
  EXPECT_EQ(word(&r[24], 8), 0x7777U);
  QueueEntry wait;
  wait.set(MemoryWaitPayload{0, 1, 0x99, 1000, 0x7777});
  const auto w = bytes_of(wait);
  EXPECT_EQ(word(&w[12], 4), 1U);
  EXPECT_EQ(word(&w[16], 8), 0x99U);
  EXPECT_EQ(word(&w[24], 8), 1000U);
  EXPECT_EQ(word(&w[32], 8), 0x7777U);
}

TEST(GoldenQueue, CompletionBytes) {
  const QueueCompletion completion{0x0102030405060708, 0xA1B2C3D4, 0x0033, 1};
  const std::array<std::uint8_t, 16> expected = {0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
                                                 0xD4, 0xC3, 0xB2, 0xA1, 0x33, 0x00, 0x01, 0x00};
  EXPECT_EQ(bytes_of(completion), expected);
}

TEST(GoldenQueue, PhaseChangesWithEveryPass) {
  EXPECT_EQ(completion_phase(0, 3), 1);
  EXPECT_EQ(completion_phase(7, 3), 1);
  EXPECT_EQ(completion_phase(8, 3), 0);
  EXPECT_EQ(completion_phase(15, 3), 0);
  EXPECT_EQ(completion_phase(16, 3), 1);
}

TEST(GoldenQueue, DescriptorDriverHalf) {
  QueueDescriptor mqd;
  mqd.flags = 0x1F;
  mqd.queue_id = 0x01020304;
  mqd.ring_base = 0x11, mqd.completion_base = 0x22, mqd.read_index_address = 0x33;
  mqd.write_index_address = 0x44, mqd.signal_base = 0x55, mqd.save_area = 0x66;
  mqd.log2_ring = 10, mqd.log2_completions = 11, mqd.vmid = 12, mqd.priority = 13;
  mqd.doorbell = 0x1FE, mqd.vector = 0x77, mqd.pasid = 0xABCDE, mqd.quantum_us = 1000;
  mqd.signal_slots = 4096, mqd.percentage = 50;
  mqd.core_mask = {0x1, 0x2, 0x3, 0x4};
  const auto b = bytes_of(mqd);
  const std::array<std::uint64_t, 7> words = {
      0x01020304'001F'0001, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66};
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(word(&b[8 * i], 8), words[i]) << i;
  EXPECT_EQ(word(&b[56], 8), 0x0077'01FE'0D0C'0B0AU);
  EXPECT_EQ(word(&b[64], 8), 0x000003E8'000ABCDEU);
  EXPECT_EQ(word(&b[72], 8), 0x00000032'00001000U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(word(&b[80 + 8 * i], 8), i + 1);
}

TEST(GoldenQueue, DescriptorCardHalf) {
  QueueDescriptor mqd;
  mqd.read_index = 1, mqd.write_index = 2, mqd.completion_index = 3, mqd.completed = 4;
  mqd.state = 3, mqd.error = 0x33, mqd.saved = 1, mqd.error_index = 5, mqd.error_address = 6;
  mqd.active_ns = 7, mqd.maps = 8, mqd.preemptions = 9, mqd.doorbells = 10;
  const auto b = bytes_of(mqd);
  EXPECT_EQ(kQueueStateOffset, 128U);
  const std::array<std::uint64_t, 11> words = {1, 2, 3, 4, 0x0001'0033'00000003, 5, 6, 7, 8, 9, 10};
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(word(&b[128 + 8 * i], 8), words[i]) << i;
  EXPECT_EQ(b.size(), 256U);
}

TEST(GoldenQueue, DescriptorLimits) {
  EXPECT_EQ(kMaxQueues, 4096U);
  EXPECT_EQ(kMinLog2Ring, 2U);
  EXPECT_EQ(kMaxLog2Ring, 16U);
  EXPECT_EQ(kMaxQueuePriority, 15);
  EXPECT_EQ(kSignalSlots, 4096U);
  EXPECT_EQ(kQueueSaveSize, 128U);
  EXPECT_EQ(static_cast<int>(QueueState::kIdle), 0);
  EXPECT_EQ(static_cast<int>(QueueState::kRunning), 1);
  EXPECT_EQ(static_cast<int>(QueueState::kSuspended), 2);
  EXPECT_EQ(static_cast<int>(QueueState::kFaulted), 3);
}

TEST(GoldenQueue, Doorbells) {
  EXPECT_EQ(kReservedDoorbellOffset, 0x300'0000U);  // 48 MiB
  EXPECT_EQ(kReservedQueueOffset, 0x340'0000U);     // 52 MiB
  EXPECT_EQ(kReservedQueueSize, 0xC0'0000U);        // up to the context table at 64 MiB
  EXPECT_EQ(kMaxDoorbellPages, 1024U);
  EXPECT_EQ(kDoorbellPageSize, 4096U);
  EXPECT_EQ(kDoorbellSize, 8U);
  EXPECT_EQ(kSignalDoorbell, 511);
  EXPECT_EQ(kSignalWakesHost, 0x8000);
  EXPECT_EQ(kQueueDoorbells, 511);
}

TEST(GoldenQueue, ShortDoorbellMeansTheNearestIndex) {
  EXPECT_EQ(extend_index(5, 9), 9U);
  EXPECT_EQ(extend_index(0xFFFF'FFFF, 0), 0x1'0000'0000U);
  EXPECT_EQ(extend_index(0x7'FFFF'FFF0, 0x10), 0x8'0000'0010U);
  EXPECT_EQ(extend_index(0x8'0000'0010, 0xFFFF'FFF0), 0x7'FFFF'FFF0U) << "backwards stays so";
}

TEST(GoldenQueue, ManagementCommandBytes) {
  ManagementCommand command;
  command.opcode = 0x01, command.flags = 1, command.queue = 0x11, command.pasid = 0x22;
  command.vmid = 3, command.mode = 1, command.scope = 2, command.page = 0x33;
  command.vector = 0x44, command.address = 0x55, command.fence_address = 0x66;
  command.fence_value = 0x77, command.size = 0x88;
  const auto b = bytes_of(command);
  const std::array<std::uint64_t, 7> words = {
      0x00000011'0001'01'01, 0x00'02'01'03'00000022, 0x00000044'00000033, 0x55, 0x66, 0x77, 0x88};
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(word(&b[8 * i], 8), words[i]) << i;
  EXPECT_EQ(b.size(), 64U);
}

TEST(GoldenQueue, ManagementCodes) {
  const std::pair<ManagementOpcode, int> golden[] = {
      {ManagementOpcode::kMapProcess, 1},  {ManagementOpcode::kUnmapProcess, 2},
      {ManagementOpcode::kAddQueue, 3},    {ManagementOpcode::kRemoveQueue, 4},
      {ManagementOpcode::kUpdateQueue, 5}, {ManagementOpcode::kSuspend, 6},
      {ManagementOpcode::kResume, 7},      {ManagementOpcode::kQueryQueue, 8},
      {ManagementOpcode::kFence, 9},       {ManagementOpcode::kScrub, 10},
  };
  for (const auto& [opcode, value] : golden) {
    EXPECT_EQ(static_cast<int>(opcode), value);
    EXPECT_NE(to_string(opcode), "?");
  }
  EXPECT_EQ(static_cast<int>(PreemptMode::kDrain), 0);
  EXPECT_EQ(static_cast<int>(PreemptMode::kReset), 1);
  EXPECT_EQ(static_cast<int>(ManagementScope::kQueue), 0);
  EXPECT_EQ(static_cast<int>(ManagementScope::kProcess), 1);
  EXPECT_EQ(static_cast<int>(ManagementScope::kAll), 2);
  EXPECT_EQ(static_cast<int>(ManagementStatus::kProcessBusy), 7);
  EXPECT_EQ(static_cast<int>(ManagementStatus::kNotDrained), 8);
}

TEST(GoldenQueue, FaultRecordBytes) {
  QueueFaultRecord record;
  record.number = 1, record.time_ns = 2, record.address = 3, record.index = 4, record.code = 0x30;
  record.opcode = 5, record.vmid = 6, record.pasid = 7, record.queue = 8, record.page = 9;
  record.doorbell = 10, record.tag = 11, record.write = 1, record.flags = kFaultHost;
  record.core = 12, record.block = 13, record.size = 14;
  record.instruction = InstructionPlace{4, 15}.pack();  // MTE2
  const auto b = bytes_of(record);
  const std::array<std::uint64_t, 8> words = {0x5000'000F'0000'0001,
                                              2,
                                              3,
                                              4,
                                              0x00000007'06'05'0030,
                                              0x000A'0009'00000008,
                                              0x000C'01'01'0000000B,
                                              0x0000000E'0000000D};
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(word(&b[8 * i], 8), words[i]) << i;
}

TEST(GoldenQueue, FaultCodes) {
  const std::pair<FaultCode, int> golden[] = {
      {FaultCode::kDoorbellUnowned, 0x30}, {FaultCode::kIndexBackwards, 0x31},
      {FaultCode::kIndexBeyondRing, 0x32}, {FaultCode::kMalformedEntry, 0x33},
      {FaultCode::kCompletionRing, 0x34},  {FaultCode::kQueueMemory, 0x35},
      {FaultCode::kQueueDescriptor, 0x36}, {FaultCode::kInvalidFunction, 0x37},
      {FaultCode::kInvalidCoreMask, 0x38}, {FaultCode::kInvalidSignal, 0x39},
      {FaultCode::kWaitTimeout, 0x3A},     {FaultCode::kInvalidImage, 0x3B},
      {FaultCode::kTaskTimeout, 0x3C},     {FaultCode::kSignalTimeout, 0x3D},
      {FaultCode::kLocalBuffer, 0x40},     {FaultCode::kLocalAlignment, 0x41},
      {FaultCode::kInstruction, 0x42},     {FaultCode::kFlagDeadlock, 0x43},
      {FaultCode::kKernelTrap, 0x44},      {FaultCode::kKernelResult, 0x45},
  };
  for (const auto& [code, value] : golden) {
    EXPECT_EQ(static_cast<int>(code), value);
    EXPECT_NE(to_string(code), "unknown fault");
  }
}

}  // namespace
}  // namespace npu::abi
