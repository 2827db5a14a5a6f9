// SPDX-License-Identifier: Apache-2.0
// Golden values of the chip-level runtime: registers and values of the handshakes typed by hand
// from hardware.md H52 and runtime.md A2, layouts from the ABI's own tables of byte offsets.
#include <gtest/gtest.h>

#include "npu/abi/core_registers.hpp"
#include "npu/abi/expert_exchange.hpp"
#include "npu/abi/handshake.hpp"
#include "npu/abi/instruction_fault.hpp"
#include "npu/abi/kernel_image.hpp"
#include "npu/abi/kernel_note.hpp"
#include "npu/abi/task_graph.hpp"
#include "npu/abi/vector_collective.hpp"

namespace npu::abi {
namespace {

struct GoldenCoreRegister {
  const char* name;
  std::uint32_t offset, size;
  const char* access;
};

TEST(GoldenRuntime, CoreRegisters) {
  const GoldenCoreRegister golden[] = {
      {"CORE_CTRL", 0x0000, 4, "RW"},
      {"CORE_STATUS", 0x0010, 4, "RO"},
      {"FAST_PATH_ENABLE", 0x0018, 4, "RW"},
      {"DATA_MAIN_BASE", 0x00A0, 4, "RW"},
      {"DATA_MAIN_DOORBELL", 0x00A4, 4, "RW"},
      {"PMU_CTRL", 0x0200, 4, "RW"},
      {"PMU_CNT0", 0x0210, 4, "RO"},
      {"PMU_CNT_TOTAL", 0x0250, 8, "RO"},
      {"COND", 0x04C8, 4, "RO"},
      {"PMU_CNT0_IDX", 0x1280, 4, "RW"},
  };
  ASSERT_EQ(std::size(golden), kCoreRegisters.size());
  for (std::size_t i = 0; i < kCoreRegisters.size(); ++i) {
    EXPECT_EQ(kCoreRegisters[i].name, golden[i].name);
    EXPECT_EQ(kCoreRegisters[i].offset, golden[i].offset) << golden[i].name;
    EXPECT_EQ(kCoreRegisters[i].size, golden[i].size) << golden[i].name;
    EXPECT_EQ(to_string(kCoreRegisters[i].access), golden[i].access) << golden[i].name;
  }
  EXPECT_EQ(kCoreWindowSize, 0x1400U);
}

TEST(GoldenRuntime, HandshakeValues) {
  EXPECT_EQ(DataMainBase::kIdle, 0x7FFFFFFDU);
  EXPECT_EQ(DataMainBase::kExit, 0x7FFFFFF0U);
  EXPECT_EQ(DataMainBase::kMaxId, 0x7FFFFFEFU);
  EXPECT_EQ(Cond::kIdle, 0xFFFFFFFFU);
  EXPECT_EQ(Cond::kExited, 0xFFFFFFFEU);
  EXPECT_EQ(Cond::Finished::kMask, 0x80000000U);
  EXPECT_EQ(FastPathEnable::kOpen, 0xEU);
  EXPECT_EQ(FastPathEnable::kClosed, 0xFU);
  EXPECT_EQ(PmuControl::kEnable, 0x7U);
}

// requirements.md M6: aicpu_ready, aicore_done, task, task_status, control; one cache line.
TEST(GoldenRuntime, HandshakeLine) {
  EXPECT_EQ(sizeof(Handshake), 64U);
  EXPECT_EQ(offsetof(Handshake, aicpu_ready), 0U);
  EXPECT_EQ(offsetof(Handshake, aicore_done), 4U);
  EXPECT_EQ(offsetof(Handshake, task), 8U);
  EXPECT_EQ(offsetof(Handshake, task_status), 16U);
  EXPECT_EQ(offsetof(Handshake, control), 20U);
  EXPECT_EQ(offsetof(Handshake, physical_core), 24U);
  EXPECT_EQ(offsetof(Handshake, core_type), 28U);
  EXPECT_EQ(offsetof(Handshake, task_sequence), 32U);
  EXPECT_EQ(offsetof(Handshake, done_sequence), 36U);
  EXPECT_EQ(offsetof(Handshake, task_result), 40U);
}

TEST(GoldenRuntime, DispatchPayload) {
  EXPECT_EQ(sizeof(DispatchPayload), 64U);
  EXPECT_EQ(offsetof(DispatchPayload, kernel), 0U);
  EXPECT_EQ(offsetof(DispatchPayload, arguments), 8U);
  EXPECT_EQ(offsetof(DispatchPayload, block), 20U);
  EXPECT_EQ(offsetof(DispatchPayload, blocks), 24U);
  EXPECT_EQ(offsetof(DispatchPayload, role), 32U);
  EXPECT_EQ(offsetof(DispatchPayload, result), 40U);
  EXPECT_EQ(offsetof(DispatchPayload, record), 48U);
}

TEST(GoldenRuntime, KernelNote) {
  constexpr auto kNote = kernel_note("npu::some::kernel", 3);
  EXPECT_EQ(sizeof kNote, 84U);
  EXPECT_EQ(offsetof(KernelNote, type), 8U);
  EXPECT_EQ(offsetof(KernelNote, owner), 12U);
  EXPECT_EQ(offsetof(KernelNote, words), 20U);
  EXPECT_EQ(offsetof(KernelNote, name), 24U);
  EXPECT_EQ(std::string(kNote.owner), "npusim");
  EXPECT_EQ(std::string(kNote.name), "kernel");
  EXPECT_EQ(kNote.words, 3U);
}

TEST(GoldenRuntime, InstructionFault) {
  const InstructionFault fault{FaultyField::kSecond, 5, 4, 0x12345, 0x89ABCDEF};
  EXPECT_EQ(fault.pack(), 0x3541'2345'89AB'CDEFU);
  const auto same = InstructionFault::unpack(fault.pack());
  EXPECT_EQ(same.pack(), fault.pack());
  EXPECT_EQ(same.instruction, 0x12345U);
  EXPECT_EQ((InstructionFault{FaultyField::kTo, 0, 0, ~0U, 0}.pack()), 0x100F'FFFF'0000'0000U);
}

TEST(GoldenRuntime, ImageHeader) {
  EXPECT_EQ(sizeof(ImageHeader), 64U);
  EXPECT_EQ(kImageMagic, 0x4750504EU);
  EXPECT_EQ(offsetof(ImageHeader, kind), 6U);
  EXPECT_EQ(offsetof(ImageHeader, size), 8U);
  EXPECT_EQ(offsetof(ImageHeader, digest), 16U);
  EXPECT_EQ(offsetof(ImageHeader, name), 48U);
  EXPECT_EQ(static_cast<int>(ImageKind::kAicpu), 1);
  EXPECT_EQ(static_cast<int>(ImageKind::kAiCore), 2);
}

TEST(GoldenRuntime, RunHeader) {
  EXPECT_EQ(sizeof(RunHeader), 256U);
  EXPECT_EQ(offsetof(RunHeader, tasks), 8U);
  EXPECT_EQ(offsetof(RunHeader, handshake), 20U);
  EXPECT_EQ(offsetof(RunHeader, descriptors), 32U);
  EXPECT_EQ(offsetof(RunHeader, handshakes), 48U);
  EXPECT_EQ(offsetof(RunHeader, payloads), 56U);
  EXPECT_EQ(offsetof(RunHeader, scratch), 64U);
  EXPECT_EQ(offsetof(RunHeader, result), 80U);
  EXPECT_EQ(offsetof(RunHeader, watchdog_ns), 104U);
  EXPECT_EQ(offsetof(RunHeader, dumps), 128U);
  EXPECT_EQ(offsetof(RunHeader, dump_count), 136U);
}

TEST(GoldenRuntime, TaskDescriptor) {
  EXPECT_EQ(sizeof(TaskDescriptor), 64U);
  EXPECT_EQ(offsetof(TaskDescriptor, kernel), 0U);
  EXPECT_EQ(offsetof(TaskDescriptor, predicate), 16U);
  EXPECT_EQ(offsetof(TaskDescriptor, blocks), 28U);
  EXPECT_EQ(offsetof(TaskDescriptor, shape), 32U);
  EXPECT_EQ(offsetof(TaskDescriptor, first_producer), 36U);
  EXPECT_EQ(offsetof(TaskDescriptor, producers), 40U);
  EXPECT_EQ(offsetof(TaskDescriptor, first_dump), 56U);
  EXPECT_EQ(offsetof(TaskDescriptor, dumps), 60U);
}

TEST(GoldenRuntime, TensorDump) {
  EXPECT_EQ(sizeof(TensorDump), 64U);
  EXPECT_EQ(offsetof(TensorDump, copy), 8U);
  EXPECT_EQ(offsetof(TensorDump, bytes), 16U);
  EXPECT_EQ(offsetof(TensorDump, argument), 24U);
  EXPECT_EQ(offsetof(TensorDump, stage), 28U);
  EXPECT_EQ(offsetof(TensorDump, taken), 32U);
  EXPECT_EQ(static_cast<int>(DumpStage::kBeforeDispatch), 1);
  EXPECT_EQ(static_cast<int>(DumpStage::kAfterCompletion), 2);
}

TEST(GoldenRuntime, RunResultAndTaskRecord) {
  EXPECT_EQ(sizeof(RunResult), 128U);
  EXPECT_EQ(offsetof(RunResult, task), 12U);
  EXPECT_EQ(offsetof(RunResult, started), 48U);
  EXPECT_EQ(offsetof(RunResult, counter_hz), 104U);
  EXPECT_EQ(offsetof(RunResult, unwired), 112U);
  EXPECT_EQ(offsetof(RunResult, block), 116U);
  EXPECT_EQ(offsetof(RunResult, dump_ticks), 120U);
  EXPECT_EQ(sizeof(TaskRecord), 64U);
  EXPECT_EQ(offsetof(TaskRecord, begun), 32U);
  EXPECT_EQ(offsetof(TaskRecord, ended), 40U);
  EXPECT_EQ(static_cast<int>(RunStatus::kNotCoresident), 7);
  EXPECT_EQ(static_cast<int>(RunStatus::kTimeout), 100);
  EXPECT_EQ(static_cast<int>(RunStatus::kReadyOverflow), 104);
  EXPECT_EQ(static_cast<int>(StallReason::kRunning), 1);
  EXPECT_EQ(static_cast<int>(StallReason::kReady), 3);
  EXPECT_EQ(static_cast<int>(StallReason::kWaiting), 4);
  EXPECT_EQ(static_cast<int>(StallReason::kOrchestrator), 5);
}

TEST(GoldenRuntime, WordsOfACollectiveOperation) {
  const std::array<std::uint64_t, 9> golden{
      0x0010'0905'1001'0402, 7, 8000, 0x40000, 0x1000, 0x2000, 512, 64, 128};
  VectorCollective work;
  work.kind = VectorCollectiveKind::kReduceGather;
  work.type = ElementType::kBf16;
  work.reduction = ReduceOperation::kSum;
  work.rank = 16;
  work.ranks = 5;
  work.place = 9;
  work.rows = 16;
  work.number = 7;
  work.timeout = 8000;
  work.half = 0x40000;
  work.from = 0x1000;
  work.to = 0x2000;
  work.bytes = 512;
  work.from_pitch = 64;
  work.to_pitch = 128;
  EXPECT_EQ(work.words(), golden);
  EXPECT_EQ(VectorCollective::of(golden).words(), golden);
  EXPECT_EQ(VectorCollective::kFlags, 512U);
  EXPECT_EQ(VectorCollective::kHead, 0x8200U);
  EXPECT_EQ(kVectorCollectiveTimeout, 0xC0);
}

TEST(GoldenRuntime, TokensForTheExpertsOfOtherCards) {
  const std::array<std::uint64_t, 13> golden{0x08'10'05'01'04'03,
                                             7,
                                             8000,
                                             0x40000,
                                             0x0000'0080'0000'0011,
                                             0x0000'0100'0000'1C00,
                                             0x1000,
                                             0x2000,
                                             0x3000,
                                             0x4000,
                                             0x5000,
                                             0x6000,
                                             0x7000};
  ExpertExchange work;
  work.kind = VectorCollectiveKind::kDispatch;
  work.type = ElementType::kBf16;
  work.quantised = true;
  work.rank = 5;
  work.ranks = 16;
  work.chosen = 8;
  work.number = 7;
  work.timeout = 8000;
  work.half = 0x40000;
  work.tokens = 17;
  work.most_tokens = 128;
  work.hidden = 7168;
  work.experts = 256;
  work.tensors = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000};
  EXPECT_EQ(work.words(), golden);
  EXPECT_EQ(ExpertExchange::of(golden).words(), golden);
  EXPECT_EQ(work.pitch(), 7680U);
  EXPECT_EQ(work.window_bytes(), 7680U * 128 * 256);
  EXPECT_EQ(offsetof(ExpertCounts, base), 8U);
  EXPECT_EQ(offsetof(ExpertCounts, counts), 12U);
  EXPECT_EQ(expert_place_pitch(8), 16U);
}

}  // namespace
}  // namespace npu::abi
