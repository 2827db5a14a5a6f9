// SPDX-License-Identifier: Apache-2.0
// Instructions that a core cannot execute, by the fault they are. No simulation.
#include <gtest/gtest.h>

#include "model/aicore/instruction_checks.hpp"

namespace npu::model {
namespace {

using abi::FaultCode;
using platform::CopyIn;
using platform::CopyOut;
using platform::DataType;
using platform::Fixpipe;
using platform::LoadL0;
using platform::LocalBuffer;
using platform::Mmad;
using platform::Vector;
using platform::VectorOp;

constexpr BufferSizes kAll{512_KiB, 64_KiB, 64_KiB, 128_KiB, 192_KiB};
constexpr BufferSizes kAic{512_KiB, 64_KiB, 64_KiB, 128_KiB, 0};
constexpr BufferSizes kAiv{0, 0, 0, 0, 192_KiB};

CopyIn copy_in() {
  CopyIn copy;
  copy.to = {LocalBuffer::kUb, 0};
  copy.rows = 2;
  copy.row_bytes = copy.to_pitch = 96_KiB;
  copy.from_pitch = 1_MiB;
  return copy;
}

TEST(AicoreChecks, ACopyFillsABufferToItsLastByteAndNotBeyond) {
  auto copy = copy_in();
  EXPECT_EQ(check(kAll, copy), FaultCode::kNone);
  copy.row_bytes += 1;
  EXPECT_EQ(check(kAll, copy), FaultCode::kInstruction);  // rows lie on each other
  copy = copy_in();
  copy.to.offset = 32;
  EXPECT_EQ(check(kAll, copy), FaultCode::kLocalBuffer);
}

// 64 pieces of 512 B become 16 rows of 64 blocks.
TEST(AicoreChecks, FractalsBecomeRowsOfBlocks) {
  CopyIn copy;
  copy.to = {LocalBuffer::kL1, 0};
  copy.rows = 64;
  copy.row_bytes = 512;
  copy.from_pitch = 4096;
  copy.to_pitch = 2048;
  copy.fractals = true;
  EXPECT_EQ(check(kAll, copy), FaultCode::kNone);
  copy.to.offset = 512 * 1024 - 16 * 2048;
  EXPECT_EQ(check(kAll, copy), FaultCode::kNone);
  copy.to.offset += 32;
  EXPECT_EQ(check(kAll, copy), FaultCode::kLocalBuffer);
  copy.to = {LocalBuffer::kL1, 0};
  copy.to_pitch = 2016;  // rows lie on each other
  EXPECT_EQ(check(kAll, copy), FaultCode::kInstruction);
  copy.to_pitch = 2048;
  copy.row_bytes = 500;
  EXPECT_EQ(check(kAll, copy), FaultCode::kInstruction);
  copy.row_bytes = 512;
  copy.to.buffer = LocalBuffer::kL0b;
  EXPECT_EQ(check(kAll, copy), FaultCode::kInstruction);
}

TEST(AicoreChecks, LocalAddressesAreMultiplesOf32Bytes) {
  auto copy = copy_in();
  copy.row_bytes = 100;
  copy.to_pitch = 112;
  EXPECT_EQ(check(kAll, copy), FaultCode::kLocalAlignment);
  copy.to_pitch = 128;
  EXPECT_EQ(check(kAll, copy), FaultCode::kNone);
  copy.to.offset = 16;
  EXPECT_EQ(check(kAll, copy), FaultCode::kLocalAlignment);
}

TEST(AicoreChecks, GlobalRangesDoNotWrap) {
  auto copy = copy_in();
  copy.from = ~std::uint64_t{0} - 100;
  EXPECT_EQ(check(kAll, copy), FaultCode::kDeviceAddress);
  copy.from = 0;
  copy.from_pitch = ~std::uint64_t{0} - 1;
  EXPECT_EQ(check(kAll, copy), FaultCode::kDeviceAddress);
}

TEST(AicoreChecks, ACoreHasNotTheUnitsOfTheOtherType) {
  EXPECT_EQ(check(kAic, copy_in()), FaultCode::kInstruction);
  Mmad product;
  product.m = product.k = product.n = 16;
  EXPECT_EQ(check(kAic, product), FaultCode::kNone);
  EXPECT_EQ(check(kAiv, product), FaultCode::kInstruction);
  CopyOut from_l0;
  from_l0.from = {LocalBuffer::kL0c, 0};
  from_l0.row_bytes = 32;
  EXPECT_EQ(check(kAll, from_l0), FaultCode::kInstruction);
}

TEST(AicoreChecks, MatricesCountInWholeFractals) {
  Mmad product;
  product.m = 16;
  product.k = 16;
  product.n = 1024;  // 16 rows of 1024 fp16: 32 KiB of L0B; 64 KiB of L0C
  product.b = 32 * 1024;
  product.c = 64 * 1024;
  EXPECT_EQ(check(kAll, product), FaultCode::kNone);
  product.k = 17;  // 32 rows of L0B
  EXPECT_EQ(check(kAll, product), FaultCode::kLocalBuffer);
  product.k = 16;
  product.m = 17;  // 32 rows of L0C
  EXPECT_EQ(check(kAll, product), FaultCode::kLocalBuffer);
}

TEST(AicoreChecks, ProductsHaveDimensionsAndATypeOfTheCube) {
  Mmad product;
  product.m = product.k = product.n = 16;
  for (auto* const length : {&product.m, &product.k, &product.n}) {
    *length = 0;
    EXPECT_EQ(check(kAll, product), FaultCode::kInstruction);
    *length = 4096;
    EXPECT_EQ(check(kAll, product), FaultCode::kInstruction);
    *length = 16;
  }
  product.type = DataType::kInt32;
  EXPECT_EQ(check(kAll, product), FaultCode::kInstruction);
}

TEST(AicoreChecks, ASizeAtFaultIsNamedWithWhatWasFound) {
  using Field = abi::FaultyField;
  const auto expect = [](const InstructionFinding& found, Field field, std::uint32_t value) {
    EXPECT_EQ(found.field, field);
    EXPECT_EQ(found.offset, value);
  };
  auto copy = copy_in();
  copy.to_pitch = copy.row_bytes - 32;
  expect(check(kAll, copy), Field::kPitch, copy.to_pitch);
  EXPECT_EQ(check(kAll, copy).size, copy.row_bytes);
  copy.row_bytes = 0;
  expect(check(kAll, copy), Field::kRowBytes, 0);
  copy.rows = 0;
  expect(check(kAll, copy), Field::kRows, 0);
  Mmad product;
  product.m = product.k = product.n = 16;
  product.k = 5000;
  expect(check(kAll, product), Field::kDepth, 5000);
  product.n = 0;
  product.k = 16;
  expect(check(kAll, product), Field::kColumns, 0);
  Vector vector;
  vector.count = 1U << 30;
  expect(check(kAll, vector), Field::kColumns, 1U << 30);
}

TEST(AicoreChecks, ATransposedLoadNeedsRoomForWhatItMakes) {
  LoadL0 load;
  load.to = {LocalBuffer::kL0a, 0};
  load.rows = 2048;
  load.columns = 16;
  load.from_pitch = 32;
  EXPECT_EQ(check(kAll, load), FaultCode::kNone);  // 64 KiB
  load.rows = 2049;
  EXPECT_EQ(check(kAll, load), FaultCode::kLocalBuffer);
  load.transpose = true;  // 16 rows of 2049 elements, padded to 32 B
  EXPECT_EQ(check(kAll, load), FaultCode::kLocalBuffer);
  load.rows = 2048;
  EXPECT_EQ(check(kAll, load), FaultCode::kNone);
}

TEST(AicoreChecks, TheVectorUnitComputesInFp16Fp32AndInt32) {
  Vector vector;
  vector.op = VectorOp::kAdd;
  vector.count = 64;
  for (const auto type : {DataType::kFp16, DataType::kFp32, DataType::kInt32}) {
    vector.type = type;
    EXPECT_EQ(check(kAll, vector), FaultCode::kNone);
  }
  vector.type = DataType::kBf16;
  EXPECT_EQ(check(kAll, vector), FaultCode::kInstruction);
  vector.op = VectorOp::kCast;
  vector.to = 1024;
  EXPECT_EQ(check(kAll, vector), FaultCode::kNone);
  vector.op = VectorOp::kExp;
  vector.type = DataType::kInt32;
  EXPECT_EQ(check(kAll, vector), FaultCode::kInstruction);
}

TEST(AicoreChecks, EveryOperandOfAVectorLiesInUb) {
  Vector vector;
  vector.op = VectorOp::kMul;
  vector.count = 32 * 256;  // 32 KiB
  vector.a = 160 * 1024;
  EXPECT_EQ(check(kAll, vector), FaultCode::kNone);
  vector.b = 161 * 1024;
  EXPECT_EQ(check(kAll, vector), FaultCode::kLocalBuffer);
  vector.op = VectorOp::kExp;  // has no second operand
  EXPECT_EQ(check(kAll, vector), FaultCode::kNone);
  vector.to = 8;
  EXPECT_EQ(check(kAll, vector), FaultCode::kLocalAlignment);
}

TEST(AicoreChecks, FixpipeMakesRealsOfRealsAndHasRowsAndColumns) {
  Fixpipe fixpipe;
  fixpipe.m = fixpipe.n = 16;
  fixpipe.to_pitch = 32;
  EXPECT_EQ(check(kAll, fixpipe), FaultCode::kNone);
  fixpipe.to_type = DataType::kInt8;
  EXPECT_EQ(check(kAll, fixpipe), FaultCode::kInstruction);
  fixpipe.to_type = DataType::kBf16;
  fixpipe.n = 0;
  EXPECT_EQ(check(kAll, fixpipe), FaultCode::kInstruction);
}

TEST(AicoreChecks, FixpipeScalesIntegersIntoHalfAndWhereItCanIntoBfloat) {
  FixpipeWays ways;
  Fixpipe fixpipe;
  fixpipe.m = fixpipe.n = 16;
  fixpipe.to_pitch = 32;
  fixpipe.scaling = platform::FixpipeScale::kOne;
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kInstruction) << "reals";
  fixpipe.type = DataType::kInt32;
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kNone);
  fixpipe.to_type = DataType::kInt32;
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kInstruction);
  fixpipe.to_type = DataType::kBf16;
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kInstruction);
  ways.scaled_bf16 = true;
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kNone);
  fixpipe.scaling = static_cast<platform::FixpipeScale>(3);
  EXPECT_EQ(check(kAll, fixpipe, ways), FaultCode::kInstruction);
}

TEST(AicoreChecks, ScalesAndBiasLieInL1) {
  Fixpipe fixpipe;
  fixpipe.m = fixpipe.n = 16;
  fixpipe.to_pitch = 32;
  fixpipe.type = DataType::kInt32;
  fixpipe.scaling = platform::FixpipeScale::kColumns;
  fixpipe.scales = 512 * 1024 - 64;
  EXPECT_EQ(check(kAll, fixpipe), FaultCode::kNone);
  fixpipe.n = 17;
  EXPECT_EQ(check(kAll, fixpipe), FaultCode::kLocalBuffer);
  Mmad product;
  product.m = product.k = product.n = 16;
  product.start = platform::MmadStart::kBias;
  product.bias = 512 * 1024 - 64;
  EXPECT_EQ(check(kAll, product), FaultCode::kNone);
  product.bias += 32;
  EXPECT_EQ(check(kAll, product), FaultCode::kLocalBuffer);
  product.bias = 8;
  EXPECT_EQ(check(kAll, product), FaultCode::kLocalAlignment);
}

TEST(AicoreChecks, ABiasBecomesTheTypeOfC) {
  Mmad product;
  product.m = product.k = product.n = 16;
  product.start = platform::MmadStart::kBias;
  for (const auto type : {DataType::kFp32, DataType::kFp16}) {
    product.bias_type = type;
    EXPECT_EQ(check(kAll, product), FaultCode::kNone);
  }
  for (const auto type : {DataType::kBf16, DataType::kInt32}) {
    product.bias_type = type;
    EXPECT_EQ(check(kAll, product), FaultCode::kInstruction);
  }
  product.type = DataType::kInt8;
  EXPECT_EQ(check(kAll, product), FaultCode::kNone) << "int32";
  product.accumulate = true;
  EXPECT_EQ(check(kAll, product), FaultCode::kInstruction) << "goes on, and begins";
}

}  // namespace
}  // namespace npu::model
