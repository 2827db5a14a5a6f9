// SPDX-License-Identifier: Apache-2.0
// Masks, selection, bits, int64 and transposition against plain arithmetic. No simulation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/vector_unit.hpp"

namespace npu::model::arithmetic {
namespace {

using platform::Comparison;
using platform::DataType;
using platform::Vector;
using platform::VectorOp;

constexpr std::uint32_t kA = 64 * 1024, kB = 128 * 1024, kMask = 32 * 1024;
constexpr std::uint8_t kUntouched = 0xA5;

// UB; what is not stored is kUntouched.
class Ub {
 public:
  template <class T>
  void store(std::uint32_t offset, const std::vector<T>& values) {
    std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
  }
  void store_as(DataType type, std::uint32_t offset, const std::vector<float>& values) {
    from_float(values.data(), type, bytes_.data() + offset, values.size());
  }
  template <class T>
  T load(std::uint32_t offset, std::size_t index = 0) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset + index * sizeof(T), sizeof value);
    return value;
  }
  bool bit(std::uint32_t mask, std::size_t index) const {
    return (bytes_[mask + index / 8] >> index % 8 & 1) != 0;
  }
  void execute(const Vector& vector) { arithmetic::execute(vector, bytes_.data()); }

 private:
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(192 * 1024, kUntouched);
};

Vector vector(VectorOp op, DataType type, std::uint32_t count) {
  Vector result;
  result.op = op;
  result.type = type;
  result.a = kA;
  result.b = kB;
  result.mask = kMask;
  result.count = count;
  return result;
}

bool expected(Comparison comparison, float a, float b) {
  switch (comparison) {
    case Comparison::kLess:
      return std::isless(a, b);
    case Comparison::kLessEqual:
      return std::islessequal(a, b);
    case Comparison::kGreater:
      return std::isgreater(a, b);
    case Comparison::kGreaterEqual:
      return std::isgreaterequal(a, b);
    case Comparison::kEqual:
      return !std::isunordered(a, b) && std::islessequal(a, b) && std::isgreaterequal(a, b);
    default:
      return !expected(Comparison::kEqual, a, b);
  }
}

constexpr Comparison kComparisons[] = {Comparison::kLess,    Comparison::kLessEqual,
                                       Comparison::kGreater, Comparison::kGreaterEqual,
                                       Comparison::kEqual,   Comparison::kNotEqual};
const float kNan = std::nanf("");
const float kInfinity = std::numeric_limits<float>::infinity();

// Every pair of these, many times over, so that more than one part of a row is compared.
const std::vector<float> kValues = {0.0F, -0.0F, 1.0F, -1.5F, kNan, kInfinity, -kInfinity, 2.0F};

TEST(AicoreVectorBits, ComparesEveryKindOfNumberInEveryWay) {
  constexpr std::uint32_t kCount = 2049;
  std::vector<float> a(kCount), b(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    a[i] = kValues[i % 8];
    b[i] = kValues[i / 8 % 8];
  }
  for (const auto type : {DataType::kFp32, DataType::kFp16}) {
    for (const auto comparison : kComparisons) {
      Ub ub;
      ub.store_as(type, kA, a);
      ub.store_as(type, kB, b);
      auto compare = vector(VectorOp::kCompare, type, kCount);
      compare.comparison = comparison;
      ub.execute(compare);
      for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(ub.bit(0, i), expected(comparison, a[i], b[i])) << i;
      }
    }
  }
}

TEST(AicoreVectorBits, ClearsBitsBehindTheLastAndLeavesBytesBehindThem) {
  for (const std::uint32_t count : {1U, 7U, 8U, 9U, 63U, 1025U}) {
    Ub ub;
    ub.store_as(DataType::kFp32, kA, std::vector<float>(count, 3.0F));
    auto compare = vector(VectorOp::kCompares, DataType::kFp32, count);
    compare.scalar = 3;
    compare.comparison = Comparison::kEqual;
    ub.execute(compare);
    const std::uint32_t bytes = (count + 7) / 8;
    for (std::uint32_t i = 0; i < 8 * bytes; ++i) ASSERT_EQ(ub.bit(0, i), i < count) << i;
    EXPECT_EQ(ub.load<std::uint8_t>(bytes), kUntouched);
  }
}

TEST(AicoreVectorBits, ComparesInt32Exactly) {
  Ub ub;
  ub.store<std::int32_t>(kA, {16'777'217, -5, std::numeric_limits<std::int32_t>::min()});
  ub.store<std::int32_t>(kB, {16'777'216, -4, std::numeric_limits<std::int32_t>::max()});
  auto compare = vector(VectorOp::kCompare, DataType::kInt32, 3);
  compare.comparison = Comparison::kGreater;
  ub.execute(compare);
  EXPECT_EQ(ub.load<std::uint8_t>(0), 0b001);
  compare.op = VectorOp::kCompares;
  compare.scalar = -5;
  compare.comparison = Comparison::kLessEqual;
  ub.execute(compare);
  EXPECT_EQ(ub.load<std::uint8_t>(0), 0b110);
}

TEST(AicoreVectorBits, ComparesRowsIntoRowsOfMasks) {
  Ub ub;
  auto compare = vector(VectorOp::kCompares, DataType::kFp32, 3);
  ub.store<float>(kA, {1, 2, 3, 0, 0, 0, 0, 0});
  ub.store<float>(kA + 32, {5, 1, 1});
  compare.rows = 2;
  compare.a_pitch = 32;
  compare.scalar = 2;
  ub.execute(compare);  // dense masks: a byte each
  EXPECT_EQ(ub.load<std::uint8_t>(0), 0b001);
  EXPECT_EQ(ub.load<std::uint8_t>(1), 0b110);
}

// The NaN of a library's maximum: where a or b is none, their maximum; a NaN's own bits elsewhere.
TEST(AicoreVectorBits, SelectsBitsAsTheyAre) {
  const std::vector<std::uint16_t> a = {0x7C01, 0x3C00, 0xFE55, 0x0001};
  const std::vector<std::uint16_t> b = {0x4000, 0x7D23, 0x4200, 0x8000};
  for (const auto type : {DataType::kFp16, DataType::kBf16}) {
    Ub ub;
    ub.store(kA, a);
    ub.store(kB, b);
    ub.store<std::uint8_t>(kMask, {0b0101});
    ub.execute(vector(VectorOp::kSelect, type, 4));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(ub.load<std::uint16_t>(0, i), i % 2 == 0 ? a[i] : b[i]);
    }
    EXPECT_EQ(ub.load<std::uint8_t>(8), kUntouched);
  }
}

TEST(AicoreVectorBits, SelectsInPlaceFromElementsOfEverySize) {
  for (const auto& [type, size] :
       {std::pair{DataType::kInt8, 1U}, std::pair{DataType::kFp16, 2U},
        std::pair{DataType::kFp32, 4U}, std::pair{DataType::kInt64, 8U}}) {
    constexpr std::uint32_t kCount = 1029;
    Ub ub;
    std::vector<std::uint8_t> mask((kCount + 7) / 8);
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<std::uint8_t>(37 * i + 11);
    ub.store(kA, std::vector<std::uint8_t>(kCount * size, 1));
    ub.store(kB, std::vector<std::uint8_t>(kCount * size, 2));
    ub.store(kMask, mask);
    auto select = vector(VectorOp::kSelect, type, kCount);
    select.to = kB;
    ub.execute(select);
    for (std::uint32_t i = 0; i < kCount * size; ++i) {
      const bool one = (mask[i / size / 8] >> i / size % 8 & 1) != 0;
      ASSERT_EQ(ub.load<std::uint8_t>(kB, i), one ? 1 : 2) << i;
    }
  }
}

TEST(AicoreVectorBits, SelectsAScalarOfTheOperandsType) {
  Ub ub;
  ub.store<std::uint16_t>(kA, {1, 2, 3});
  ub.store<std::uint8_t>(kMask, {0b010});
  auto select = vector(VectorOp::kSelects, DataType::kBf16, 3);
  select.scalar = 1.0F;
  ub.execute(select);
  EXPECT_EQ(ub.load<std::uint16_t>(0, 0), 0x3F80);
  EXPECT_EQ(ub.load<std::uint16_t>(0, 1), 2);
  EXPECT_EQ(ub.load<std::uint16_t>(0, 2), 0x3F80);
}

TEST(AicoreVectorBits, CombinesMasks) {
  Ub ub;
  ub.store<std::uint8_t>(kA, {0b1100, 0xFF, 0x0F});
  ub.store<std::uint8_t>(kB, {0b1010, 0x00, 0x3C});
  ub.execute(vector(VectorOp::kAnd, DataType::kInt8, 3));
  EXPECT_EQ(ub.load<std::uint8_t>(0), 0b1000);
  EXPECT_EQ(ub.load<std::uint8_t>(2), 0x0C);
  ub.execute(vector(VectorOp::kOr, DataType::kInt8, 2));
  EXPECT_EQ(ub.load<std::uint8_t>(0), 0b1110);
  EXPECT_EQ(ub.load<std::uint8_t>(1), 0xFF);
}

TEST(AicoreVectorBits, FindsTheLargerAndTheSmallerOfInt64) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  Ub ub;
  ub.store<std::int64_t>(kA, {kLow, (1LL << 53) + 1, -1});
  ub.store<std::int64_t>(kB, {kHigh, 1LL << 53, 0});
  ub.execute(vector(VectorOp::kMax, DataType::kInt64, 3));
  EXPECT_EQ(ub.load<std::int64_t>(0, 0), kHigh);
  EXPECT_EQ(ub.load<std::int64_t>(0, 1), (1LL << 53) + 1);
  EXPECT_EQ(ub.load<std::int64_t>(0, 2), 0);
  ub.execute(vector(VectorOp::kMin, DataType::kInt64, 3));
  EXPECT_EQ(ub.load<std::int64_t>(0, 0), kLow);
  EXPECT_EQ(ub.load<std::int64_t>(0, 1), 1LL << 53);
}

TEST(AicoreVectorBits, TransposesRaggedRowsOfEverySize) {
  for (const auto& [type, size] :
       {std::pair{DataType::kInt8, 1U}, std::pair{DataType::kBf16, 2U},
        std::pair{DataType::kFp32, 4U}, std::pair{DataType::kInt64, 8U}}) {
    constexpr std::uint32_t kRows = 13, kColumns = 7;
    Ub ub;
    std::vector<std::uint8_t> a(kRows * kColumns * size);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::uint8_t>(i % 251);
    ub.store(kA, a);
    auto transpose = vector(VectorOp::kTranspose, type, kColumns);
    transpose.rows = kRows;
    transpose.to_pitch = 128;
    ub.execute(transpose);
    for (std::uint32_t i = 0; i < kRows * kColumns * size; ++i) {
      const std::uint32_t row = i / size / kColumns, column = i / size % kColumns;
      ASSERT_EQ(ub.load<std::uint8_t>(column * 128 + row * size + i % size), a[i]) << i;
    }
    EXPECT_EQ(ub.load<std::uint8_t>(kRows * size), kUntouched);
  }
}

TEST(AicoreVectorBits, SeparatesNeighboursOfEachRow) {
  Ub ub;
  std::vector<std::int32_t> values(32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  ub.store(kA, values);
  auto apart = vector(VectorOp::kDeinterleave, DataType::kInt32, 7);
  apart.rows = 2;
  apart.a_pitch = apart.to_pitch = 64;
  ub.execute(apart);
  const std::int32_t wanted[] = {0, 2, 4, 6, 1, 3, 5};
  for (std::uint32_t i = 0; i < 7; ++i) {
    EXPECT_EQ(ub.load<std::int32_t>(0, i), wanted[i]);
    EXPECT_EQ(ub.load<std::int32_t>(64, i), wanted[i] + 16);
  }
}

TEST(AicoreVectorBits, FindsTheSmallestOfARow) {
  Ub ub;
  std::vector<float> values(200, 7.0F);
  values[130] = -3.0F;
  ub.store(kA, values);
  auto smallest = vector(VectorOp::kReduceMin, DataType::kFp32, 100);
  smallest.rows = 2;
  ub.execute(smallest);
  EXPECT_EQ(ub.load<float>(0, 0), 7.0F);
  EXPECT_EQ(ub.load<float>(0, 1), -3.0F);
}

TEST(AicoreVectorBits, RaisesEPrecisely) {
  Ub ub;
  ub.store<float>(kA, {0.0F, 1.0F, -kInfinity, kNan, 100.0F});
  ub.execute(vector(VectorOp::kExpPrecise, DataType::kFp32, 5));
  EXPECT_EQ(ub.load<float>(0, 0), 1.0F);
  EXPECT_FLOAT_EQ(ub.load<float>(0, 1), 2.7182818F);
  EXPECT_EQ(ub.load<float>(0, 2), 0.0F);
  EXPECT_TRUE(std::isnan(ub.load<float>(0, 3)));
  EXPECT_EQ(ub.load<float>(0, 4), kInfinity);
}

}  // namespace
}  // namespace npu::model::arithmetic
