// SPDX-License-Identifier: Apache-2.0
// Vector instructions with masks, transpositions and int64 that a core cannot execute. No
// simulation.
#include <gtest/gtest.h>

#include "model/aicore/instruction_checks.hpp"

namespace npu::model {
namespace {

using abi::FaultCode;
using platform::Comparison;
using platform::DataType;
using platform::Vector;
using platform::VectorOp;

constexpr BufferSizes kAiv{0, 0, 0, 0, 192_KiB};
constexpr std::uint32_t kEnd = 192 * 1024;

Vector checked_vector(VectorOp op, std::uint32_t count, DataType type = DataType::kFp32) {
  Vector result;
  result.op = op;
  result.type = type;
  result.count = count;
  result.a = 64 * 1024;
  result.b = 128 * 1024;
  result.mask = 32 * 1024;
  return result;
}

TEST(AicoreVectorChecks, ComparesWhatTheUnitComputesIn) {
  auto compare = checked_vector(VectorOp::kCompare, 64);
  for (const auto type : {DataType::kFp16, DataType::kFp32, DataType::kInt32}) {
    compare.type = type;
    EXPECT_EQ(check(kAiv, compare), FaultCode::kNone);
  }
  for (const auto type : {DataType::kBf16, DataType::kInt8, DataType::kInt64}) {
    compare.type = type;
    EXPECT_EQ(check(kAiv, compare), FaultCode::kInstruction);
  }
  compare.type = DataType::kFp32;
  compare.comparison = static_cast<Comparison>(6);
  EXPECT_EQ(check(kAiv, compare), FaultCode::kInstruction);
}

TEST(AicoreVectorChecks, MovesElementsOfEveryType) {
  for (const auto op : {VectorOp::kSelect, VectorOp::kSelects, VectorOp::kTranspose, VectorOp::kAnd,
                        VectorOp::kOr, VectorOp::kDeinterleave}) {
    for (std::uint8_t type = 0; type <= static_cast<std::uint8_t>(DataType::kInt64); ++type) {
      EXPECT_EQ(check(kAiv, checked_vector(op, 64, static_cast<DataType>(type))), FaultCode::kNone);
    }
    EXPECT_EQ(check(kAiv, checked_vector(op, 64, static_cast<DataType>(6))),
              FaultCode::kInstruction);
  }
}

TEST(AicoreVectorChecks, KnowsTwoOperationsOfInt64) {
  EXPECT_EQ(check(kAiv, checked_vector(VectorOp::kMax, 64, DataType::kInt64)), FaultCode::kNone);
  EXPECT_EQ(check(kAiv, checked_vector(VectorOp::kMin, 64, DataType::kInt64)), FaultCode::kNone);
  for (const auto op : {VectorOp::kAdd, VectorOp::kMaxs, VectorOp::kReduceMax, VectorOp::kExp,
                        VectorOp::kExpPrecise, VectorOp::kCast}) {
    EXPECT_EQ(check(kAiv, checked_vector(op, 64, DataType::kInt64)), FaultCode::kInstruction);
  }
  auto cast = checked_vector(VectorOp::kCast, 64);
  cast.to_type = DataType::kInt64;
  EXPECT_EQ(check(kAiv, cast), FaultCode::kInstruction);
}

TEST(AicoreVectorChecks, MasksHaveABitForEachElement) {
  auto compare = checked_vector(VectorOp::kCompares, 64 * 1024 / 4);  // a mask of 2 KiB
  compare.to = kEnd - 2048;
  EXPECT_EQ(check(kAiv, compare), FaultCode::kNone);
  compare.to += 32;
  EXPECT_EQ(check(kAiv, compare), FaultCode::kLocalBuffer);
  auto select = checked_vector(VectorOp::kSelect, 256 * 31 + 1);
  select.mask = kEnd - 32 * 32;
  EXPECT_EQ(check(kAiv, select), FaultCode::kNone);
  select.mask = kEnd - 31 * 32;
  EXPECT_EQ(check(kAiv, select), FaultCode::kLocalBuffer);
  select.mask = 8;
  EXPECT_EQ(check(kAiv, select), FaultCode::kLocalAlignment);
}

TEST(AicoreVectorChecks, AComparisonDoesNotWriteOnWhatItReads) {
  auto compare = checked_vector(VectorOp::kCompare, 256);
  compare.to = compare.a + 1024;
  EXPECT_EQ(check(kAiv, compare), FaultCode::kNone);
  compare.to = compare.a + 992;
  EXPECT_EQ(check(kAiv, compare), FaultCode::kInstruction);
  compare.to = compare.b;
  EXPECT_EQ(check(kAiv, compare), FaultCode::kInstruction);
}

// 256 elements.
FaultCode cast_in_ub(DataType from, DataType to_type, std::uint32_t to, std::uint32_t rows = 1,
                     std::uint32_t to_pitch = 0, std::uint32_t a_pitch = 0) {
  auto cast = checked_vector(VectorOp::kCast, 256, from);
  cast.to_type = to_type;
  cast.to = to;
  cast.rows = rows;
  cast.to_pitch = to_pitch;
  cast.a_pitch = a_pitch;
  return check(kAiv, cast);
}

TEST(AicoreVectorChecks, AConversionToAWiderTypeDoesNotWriteOnWhatItReads) {
  constexpr std::uint32_t kSource = 64 * 1024;
  const auto widened = [](std::uint32_t to) {
    return cast_in_ub(DataType::kFp16, DataType::kFp32, to);
  };
  EXPECT_EQ(widened(kSource), FaultCode::kInstruction);
  EXPECT_EQ(widened(kSource + 480), FaultCode::kInstruction);
  EXPECT_EQ(widened(kSource + 512), FaultCode::kNone) << "behind the source";
  EXPECT_EQ(widened(kSource - 992), FaultCode::kInstruction);
  EXPECT_EQ(widened(kSource - 1024), FaultCode::kNone) << "in front of it";
}

TEST(AicoreVectorChecks, AConversionInPlaceComesToNoElementItHasNotRead) {
  constexpr std::uint32_t kSource = 64 * 1024;
  const auto narrow = [](std::uint32_t to, std::uint32_t rows, std::uint32_t to_pitch) {
    return cast_in_ub(DataType::kFp32, DataType::kFp16, to, rows, to_pitch, 1056);
  };
  EXPECT_EQ(cast_in_ub(DataType::kFp32, DataType::kInt32, kSource), FaultCode::kNone);
  EXPECT_EQ(cast_in_ub(DataType::kFp32, DataType::kFp16, kSource, 4), FaultCode::kNone) << "dense";
  EXPECT_EQ(narrow(kSource, 4, 1056), FaultCode::kNone);
  EXPECT_EQ(narrow(kSource - 32, 4, 512), FaultCode::kNone);
  EXPECT_EQ(narrow(kSource + 32, 4, 512), FaultCode::kInstruction) << "ahead of the source";
  EXPECT_EQ(narrow(kSource, 4, 1088), FaultCode::kInstruction) << "ahead of it from row 1 on";
  EXPECT_EQ(narrow(kSource, 1, 1088), FaultCode::kNone) << "there is no row 1";
}

TEST(AicoreVectorChecks, ASelectionMayReplaceAnOperandButNotItsMask) {
  auto select = checked_vector(VectorOp::kSelect, 256);
  select.to = select.a;
  EXPECT_EQ(check(kAiv, select), FaultCode::kNone);
  select.to = select.mask - 992;
  EXPECT_EQ(check(kAiv, select), FaultCode::kInstruction);
  select.to = select.mask - 1024;
  EXPECT_EQ(check(kAiv, select), FaultCode::kNone);
}

TEST(AicoreVectorChecks, ATranspositionNeedsRoomOfItsOwn) {
  auto transpose = checked_vector(VectorOp::kTranspose, 100);
  transpose.rows = 50;  // 20'000 B
  transpose.to = transpose.a + 20'000;
  EXPECT_EQ(check(kAiv, transpose), FaultCode::kNone);
  transpose.to -= 32;
  EXPECT_EQ(check(kAiv, transpose), FaultCode::kInstruction);
  transpose.to = 0;
  transpose.to_pitch = 224;  // 100 rows of 200 B at 224: 22'376 B
  EXPECT_EQ(check(kAiv, transpose), FaultCode::kNone);
  transpose.to = kEnd - 22'368;
  EXPECT_EQ(check(kAiv, transpose), FaultCode::kLocalBuffer);
  transpose.to = 0;
  transpose.to_pitch = 216;
  EXPECT_EQ(check(kAiv, transpose), FaultCode::kLocalAlignment);
}

}  // namespace
}  // namespace npu::model
