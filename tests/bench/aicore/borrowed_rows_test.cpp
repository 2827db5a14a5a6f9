// SPDX-License-Identifier: Apache-2.0
// Copies to L1 from a memory that lends its bytes: whatever is written there afterwards, L1 holds
// what was copied. No simulation.
#include <gtest/gtest.h>

#include "model/aicore/local_memory.hpp"
#include "model/core/sparse_memory.hpp"

namespace npu::test {
namespace {

using model::Completion;
using platform::CopyIn;
using platform::CopyOut;
using platform::DataType;
using platform::Fixpipe;
using platform::LoadL0;
using platform::LocalBuffer;
using platform::Mmad;

constexpr std::uint32_t kEdge = 64;  // of every matrix, fp16
constexpr std::uint32_t kEdgeRow = kEdge * 2, kMatrix = kEdge * kEdgeRow;
constexpr std::uint32_t kPitch = 4 * kEdgeRow;  // from row to row in memory
constexpr std::uint64_t kA = 0, kB = 1_MiB, kOut = 8_MiB;
constexpr std::uint16_t kOne = 0x3C00, kTwo = 0x4000, kThree = 0x4200;

class DirectMemoryOfTest : public model::DeviceMemoryPort {
 public:
  Completion read(model::SpaceId, std::uint64_t address, void* data, Bytes length) override {
    if (address + length > mapped) return Completion::kNotMapped;
    memory_.read(address, data, length);
    return Completion::kSuccess;
  }
  Completion write(model::Writer, model::SpaceId, std::uint64_t address, const void* data,
                   Bytes length) override {
    memory_.write(address, data, length);
    return Completion::kSuccess;
  }
  const std::byte* direct_pointer(model::SpaceId, std::uint64_t address, Bytes length,
                                  model::DirectMemoryUser& user) override {
    if (address + length > mapped) return nullptr;
    ++loans;
    return memory_.direct_pointer(address, length, user);
  }
  void give_back(const std::byte* from, Bytes length, model::DirectMemoryUser& user) override {
    --loans;
    memory_.give_back(from, length, user);
  }
  int loans = 0;  // that were not given back
  Bytes mapped = 16_MiB;

 private:
  model::SparseMemory memory_{16_MiB};
};

struct Core {
  Core() {
    fill(kA, kOne);
    fill(kB, kTwo);
  }
  void put(std::uint64_t address, std::uint16_t value) {
    memory.write(model::Writer::kDma, 0, address, &value, sizeof value);
  }
  // A whole matrix.
  void fill(std::uint64_t address, std::uint16_t value) {
    for (std::uint32_t i = 0; i < kEdge * kEdge; ++i) {
      put(address + i / kEdge * kPitch + 2 * (i % kEdge), value);
    }
  }
  void execute(const model::Instruction& instruction) {
    EXPECT_EQ(local.execute(instruction, {}, memory, 0).code, abi::FaultCode::kNone);
  }
  void copy(std::uint32_t to, std::uint64_t from) {
    execute(CopyIn{{LocalBuffer::kL1, to}, from, kEdge, kEdgeRow, kPitch, kEdgeRow});
  }
  void load(LocalBuffer to, std::uint32_t from, bool transpose = false) {
    execute(LoadL0{{to, 0}, from, kEdge, kEdge, kEdgeRow, DataType::kFp16, transpose});
  }
  void copy_both() {
    copy(0, kA);
    copy(kMatrix, kB);
  }
  void load_both() {
    copy_both();
    load(LocalBuffer::kL0a, 0);
    load(LocalBuffer::kL0b, kMatrix);
  }
  void multiply() { execute(Mmad{0, 0, 0, kEdge, kEdge, kEdge, DataType::kFp16, false}); }
  float result(std::uint32_t row, std::uint32_t column) {
    constexpr std::uint32_t kFloats = kEdge * 4;
    execute(Fixpipe{kOut, 0, kEdge, kEdge, kFloats, DataType::kFp32, DataType::kFp32});
    float value = 0;
    memory.read(0, kOut + row * kFloats + 4 * column, &value, sizeof value);
    return value;
  }
  // What lies in L1.
  std::uint16_t held(std::uint32_t offset) {
    execute(CopyOut{kOut, {LocalBuffer::kL1, offset}, 1, 2, 2, 2});
    std::uint16_t value = 0;
    memory.read(0, kOut, &value, sizeof value);
    return value;
  }

  DirectMemoryOfTest memory;
  model::LocalMemory local{{512_KiB, 64_KiB, 64_KiB, 128_KiB, 192_KiB}, true};
};

TEST(AicoreBorrowedRows, ProductsSeeWhatWasCopiedAlthoughMemoryChangesBehindTheCopy) {
  Core core;
  core.load_both();
  core.put(kA + 3 * kPitch, kThree);  // row 3
  core.put(kB, kThree);               // column 0

  core.multiply();

  EXPECT_EQ(core.result(3, 0), 2.0F * kEdge);
}

TEST(AicoreBorrowedRows, ProductsSeeWhatWasCopiedAlthoughMemoryChangesBehindThem) {
  Core core;
  core.load_both();
  core.multiply();
  core.put(kA + 3 * kPitch, kThree);

  EXPECT_EQ(core.result(3, 0), 2.0F * kEdge);
}

TEST(AicoreBorrowedRows, LaterCopiesSeeWhatWasWritten) {
  Core core;
  core.load_both();
  core.put(kA + 3 * kPitch, kThree);
  core.load_both();
  core.multiply();

  EXPECT_EQ(core.result(3, 0), 2.0F * (kEdge - 1) + 6.0F);
  EXPECT_EQ(core.result(2, 0), 2.0F * kEdge);
}

TEST(AicoreBorrowedRows, TransposedLoadsFindTheirRows) {
  Core core;
  core.put(kA + 3 * kPitch, kThree);  // row 3, column 0
  core.load_both();
  core.load(LocalBuffer::kL0a, 0, true);
  core.multiply();

  EXPECT_EQ(core.result(0, 0), 2.0F * (kEdge - 1) + 6.0F);
  EXPECT_EQ(core.result(3, 0), 2.0F * kEdge);
}

// Rows 8 to 23, columns 16 to 31 of A.
TEST(AicoreBorrowedRows, PartsOfWhatWasCopiedAreFound) {
  Core core;
  core.put(kA + 8 * kPitch + 2 * 31, kThree);
  core.copy_both();
  core.execute(LoadL0{
      {LocalBuffer::kL0a, 0}, 8 * kEdgeRow + 2 * 16, 16, 16, kEdgeRow, DataType::kFp16, false});
  core.execute(
      LoadL0{{LocalBuffer::kL0b, 0}, kMatrix, 16, kEdge, kEdgeRow, DataType::kFp16, false});
  core.execute(Mmad{0, 0, 0, 16, 16, kEdge, DataType::kFp16, false});

  EXPECT_EQ(core.result(0, 0), 2.0F * 15 + 6.0F);
  EXPECT_EQ(core.result(1, 0), 2.0F * 16);
}

// Half as many rows, twice as long: no part of the rows that were copied.
TEST(AicoreBorrowedRows, RowsOfAnotherLengthAreReadAsTheyLieInL1) {
  Core core;
  core.put(kA + 1 * kPitch, kThree);
  core.copy_both();
  core.load(LocalBuffer::kL0b, kMatrix);
  core.execute(LoadL0{{LocalBuffer::kL0a, 0}, 0, 16, kEdge, 2 * kEdgeRow, DataType::kFp16, false});
  core.execute(Mmad{0, 0, 0, 16, kEdge, kEdge, DataType::kFp16, false});
  EXPECT_EQ(core.result(1, 0), 2.0F * kEdge) << "row 1 of A is skipped";

  core.execute(
      LoadL0{{LocalBuffer::kL0a, 0}, kEdgeRow, 16, kEdge, 2 * kEdgeRow, DataType::kFp16, false});
  core.execute(Mmad{0, 0, 0, 16, kEdge, kEdge, DataType::kFp16, false});
  EXPECT_EQ(core.result(0, 0), 2.0F * (kEdge - 1) + 6.0F);
}

TEST(AicoreBorrowedRows, L1KeepsWhatIsNotWrittenOver) {
  Core core;
  core.copy(0, kA);
  core.copy(kMatrix / 2, kB);
  core.fill(kA, kThree);
  core.fill(kB, kThree);

  EXPECT_EQ(core.held(kMatrix / 2 - 2), kOne);
  EXPECT_EQ(core.held(kMatrix / 2), kTwo);
  EXPECT_EQ(core.held(kMatrix / 2 + kMatrix - 2), kTwo);
}

TEST(AicoreBorrowedRows, WhatIsWrittenOverAsAWholeIsGivenBack) {
  Core core;
  for (int i = 0; i < 100; ++i) core.load_both();
  EXPECT_EQ(core.memory.loans, 2);
}

// The copy of B fails at its row 40.
TEST(AicoreBorrowedRows, ACopyThatFailsHalfWayLeavesWhatLiesBehindTheRowsItRead) {
  Core core;
  core.copy(0, kA);
  core.memory.mapped = kB + 40 * kPitch;

  const CopyIn copy{{LocalBuffer::kL1, 0}, kB, kEdge, kEdgeRow, kPitch, kEdgeRow};
  const auto fault = core.local.execute(copy, {}, core.memory, 0);

  core.memory.mapped = 16_MiB;
  EXPECT_EQ(fault.code, abi::FaultCode::kTranslation);
  EXPECT_EQ(fault.address, kB + 40 * kPitch);
  EXPECT_EQ(core.held(40 * kEdgeRow - 2), kTwo);
  EXPECT_EQ(core.held(40 * kEdgeRow), kOne);
  EXPECT_EQ(core.held(kMatrix - 2), kOne);
}

}  // namespace
}  // namespace npu::test
