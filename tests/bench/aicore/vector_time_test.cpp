// SPDX-License-Identifier: Apache-2.0
// What vector instructions take that make masks, convert integers, emulate or transpose.
#include "tests/bench/aicore/aicore_bench.hpp"

namespace npu::test {
namespace {

// Of each instruction alone.
Clocks clocks_of(const std::vector<Vector>& instructions) {
  std::vector<std::vector<Vector>> alone;
  alone.reserve(instructions.size());
  for (const auto& instruction : instructions) alone.push_back({instruction});
  return clocks_of_groups(alone);
}

Vector timed_vector(VectorOp op, std::uint32_t count, DataType type = DataType::kFp32,
                    DataType to_type = DataType::kFp32) {
  Vector instruction;
  instruction.op = op;
  instruction.type = type;
  instruction.to_type = to_type;
  instruction.a = 64 * 1024;
  instruction.b = 128 * 1024;
  instruction.mask = 190 * 1024;
  instruction.count = count;
  return instruction;
}

// 100 repeats of the wider side; the bench's casts between reals take a clock each.
TEST(AicoreVectorTime, OfACastBetweenRealsIsThatOfTheWiderSide) {
  using D = DataType;
  const auto cast = [](D from, D to) { return timed_vector(VectorOp::kCast, 6400, from, to); };
  EXPECT_EQ(clocks_of({cast(D::kFp16, D::kFp32), cast(D::kFp32, D::kBf16)}),
            (Clocks{100 + 20, 100 + 20}));
}

TEST(AicoreVectorTime, OfACastWithAnIntegerIs22ClocksPerRepeat) {
  using D = DataType;
  const auto cast = [](D from, D to) { return timed_vector(VectorOp::kCast, 6400, from, to); };
  EXPECT_EQ(
      clocks_of({cast(D::kFp32, D::kInt32), cast(D::kInt32, D::kFp16), cast(D::kFp32, D::kInt8)}),
      (Clocks{220 + 24, 220 + 24, 220 + 24}));
}

TEST(AicoreVectorTime, OfMasksCountsTheElementsAndNotTheBits) {
  EXPECT_EQ(clocks_of({timed_vector(VectorOp::kCompare, 6400),
                       timed_vector(VectorOp::kCompares, 12'800, DataType::kFp16),
                       timed_vector(VectorOp::kSelect, 6400),
                       timed_vector(VectorOp::kAnd, 12'800, DataType::kFp16)}),
            (Clocks{201 + 23, 201 + 23, 201 + 23, 203 + 20}));
}

// 241 clocks per 64 elements, 16 per 64.
TEST(AicoreVectorTime, OfWhatTheUnitHasNoInstructionFor) {
  EXPECT_EQ(clocks_of({timed_vector(VectorOp::kMax, 640, DataType::kInt64),
                       timed_vector(VectorOp::kExpPrecise, 640)}),
            (Clocks{2410 + 24, 160 + 31}));
}

Vector transpose(std::uint32_t rows, std::uint32_t count, DataType type = DataType::kFp32) {
  auto result = timed_vector(VectorOp::kTranspose, count, type);
  result.rows = rows;
  return result;
}

// 64 rows of 80 elements: 640 blocks of 32 B in fp32, 320 in fp16.
TEST(AicoreVectorTime, OfATranspositionGoesByBlocksOf32Bytes) {
  EXPECT_EQ(clocks_of({transpose(64, 80), transpose(64, 80, DataType::kFp16)}),
            (Clocks{640 * 57 / 10 + 24, 320 * 57 / 10 + 24}));
}

// 50 rows of 57 elements are 400 blocks, with rows of 228 B, which are no multiple of 32 B.
TEST(AicoreVectorTime, OfATranspositionIsHalfAsLongAgainWithRaggedRows) {
  EXPECT_EQ(clocks_of({transpose(50, 57)}), (Clocks{400 * 57 / 10 * 3 / 2 + 24}));
}

// Masks have rows of their own: 64 elements are 8 bytes, dense or 32 apart; ten rows of a repeat,
// or of two and a tail.
TEST(AicoreVectorTime, OfASelectionCountsItsRows) {
  auto dense = timed_vector(VectorOp::kSelect, 640);
  dense.rows = 10;
  auto apart = dense;
  apart.mask_pitch = 128;
  auto ragged = apart;
  ragged.count = 65;
  ragged.to_pitch = ragged.a_pitch = ragged.b_pitch = 288;
  EXPECT_EQ(clocks_of({dense, apart, ragged}),
            (Clocks{201 + 23, 201 + 23, 2010 * 20 / 1000 + 23 + 10 * 16}));
}

}  // namespace
}  // namespace npu::test
