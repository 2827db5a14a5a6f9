// SPDX-License-Identifier: Apache-2.0
// Conversions, products and vector operations against plain arithmetic. No simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "model/aicore/arithmetic/convert.hpp"
#include "model/aicore/arithmetic/matrix.hpp"
#include "model/aicore/arithmetic/product_kernel.hpp"
#include "model/aicore/arithmetic/vector_unit.hpp"

namespace npu::model::arithmetic {
namespace {

using platform::DataType;
using platform::Vector;
using platform::VectorOp;

std::uint16_t half_of(float value) {
  std::uint16_t half = 0;
  from_float(&value, DataType::kFp16, &half, 1);
  return half;
}
std::uint16_t brain_of(float value) {
  std::uint16_t brain = 0;
  from_float(&value, DataType::kBf16, &brain, 1);
  return brain;
}
float float_of(DataType type, std::uint16_t bits) {
  float value = 0;
  to_float(type, &bits, &value, 1);
  return value;
}

TEST(AicoreArithmetic, HalvesSurviveTheWayToFloatAndBack) {
  for (unsigned bits = 0; bits < 0x1'0000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_of(DataType::kFp16, half);
    if ((bits & 0x7FFF) > 0x7C00) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(float_of(DataType::kFp16, half_of(value)))) << bits;
    } else {
      EXPECT_EQ(half_of(value), half);
    }
  }
}

// IEEE 754 binary16: 2^-24 (1 + m / 1024), subnormals below 2^-14.
TEST(AicoreArithmetic, HalvesHaveTheValuesOfTheStandard) {
  EXPECT_EQ(float_of(DataType::kFp16, 0x3C00), 1.0F);
  EXPECT_EQ(float_of(DataType::kFp16, 0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(float_of(DataType::kFp16, 0x83FF), -std::ldexp(1023.0F, -24));
  EXPECT_EQ(float_of(DataType::kFp16, 0x7BFF), 65504.0F);
  EXPECT_EQ(float_of(DataType::kFp16, 0xFC00), -std::numeric_limits<float>::infinity());
}

TEST(AicoreArithmetic, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(half_of(2049.0F), half_of(2048.0F));
  EXPECT_EQ(half_of(2051.0F), half_of(2052.0F));
  EXPECT_EQ(half_of(65519.0F), 0x7BFF);
  EXPECT_EQ(half_of(65520.0F), 0x7C00);
  EXPECT_EQ(half_of(std::ldexp(1.0F, -25)), 0x0000);
  EXPECT_EQ(half_of(std::ldexp(3.0F, -25)), 0x0002);
  EXPECT_EQ(half_of(-std::ldexp(1.001F, -25)), 0x8001);
  EXPECT_EQ(brain_of(257.0F), brain_of(256.0F));
  EXPECT_EQ(brain_of(259.0F), brain_of(260.0F));
  EXPECT_EQ(brain_of(std::numeric_limits<float>::max()), 0x7F80);
}

// Eight at a time or one: the same loop need not be taken.
TEST(AicoreArithmetic, RoundsManyToHalvesAsItDoesOne) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < 0x1'0000'0000; bits += 0x1003) {
    const auto word = static_cast<std::uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    values.push_back(value);
  }
  std::vector<std::uint16_t> halves(values.size());
  from_float(values.data(), DataType::kFp16, halves.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(halves[i], half_of(values[i])) << values[i];
  }
}

TEST(AicoreArithmetic, KeepsIntegersWithinTheirRange) {
  const float values[] = {2.5F, 3.5F, -2.5F, 200.0F, -1e9F, std::nanf("")};
  std::int8_t small[6];
  from_float(values, DataType::kInt8, small, 6);
  const std::int8_t expected[] = {2, 4, -2, 127, -128, 0};
  EXPECT_EQ(std::memcmp(small, expected, sizeof small), 0);
  const std::int32_t wide[] = {5, -300, 127};
  convert(DataType::kInt32, wide, DataType::kInt8, small, 3);
  EXPECT_EQ(small[1], -128);
  const float large = 3e9F;
  std::int32_t most = 0;
  from_float(&large, DataType::kInt32, &most, 1);
  EXPECT_EQ(most, std::numeric_limits<std::int32_t>::max());
}

// Small whole numbers, so that every sum is exact in every type.
template <class T>
void check_product(DataType type, T (*make)(int), bool accumulate) {
  constexpr std::uint32_t kM = 5, kK = 37, kN = 19;
  const Bytes a_pitch = 96 * sizeof(T), b_pitch = 48 * sizeof(T), c_pitch = 32 * 4;
  std::vector<T> a(kM * 96), b(kK * 48);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = make(static_cast<int>(i % 7) - 3);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = make(static_cast<int>(i % 5) - 2);
  std::vector<std::int32_t> c(kM * 32);
  const float ten = 10.0F;
  for (auto& each : c) {
    if (type == DataType::kInt8)
      each = 10;
    else
      std::memcpy(&each, &ten, 4);
  }
  // In two pieces of k.
  constexpr std::uint32_t kFirst = 20;
  const auto* const left = reinterpret_cast<const unsigned char*>(a.data());
  const auto* const right = reinterpret_cast<const unsigned char*>(b.data());
  const ProductPiece pieces[] = {
      {left, right, a_pitch, b_pitch, kFirst},
      {left + kFirst * sizeof(T), right + kFirst * b_pitch, a_pitch, b_pitch, kK - kFirst}};
  multiply({kM, kN, c_pitch, type, accumulate}, pieces, 2,
           reinterpret_cast<unsigned char*>(c.data()));
  for (std::uint32_t i = 0; i < kM; ++i) {
    for (std::uint32_t j = 0; j < kN; ++j) {
      int sum = accumulate ? 10 : 0;
      for (std::uint32_t l = 0; l < kK; ++l) {
        sum += (static_cast<int>((i * 96 + l) % 7) - 3) * (static_cast<int>((l * 48 + j) % 5) - 2);
      }
      float real = 0;
      std::memcpy(&real, &c[i * 32 + j], 4);
      const int result = type == DataType::kInt8 ? c[i * 32 + j] : static_cast<int>(real);
      ASSERT_EQ(result, sum) << i << " " << j;
    }
  }
}

TEST(AicoreArithmetic, MultipliesMatricesOfEveryType) {
  for (const bool accumulate : {false, true}) {
    check_product<std::uint16_t>(
        DataType::kFp16, [](int v) { return half_of(static_cast<float>(v)); }, accumulate);
    check_product<std::uint16_t>(
        DataType::kBf16, [](int v) { return brain_of(static_cast<float>(v)); }, accumulate);
    check_product<float>(
        DataType::kFp32, [](int v) { return static_cast<float>(v); }, accumulate);
    check_product<std::int8_t>(
        DataType::kInt8, [](int v) { return static_cast<std::int8_t>(v); }, accumulate);
  }
}

// A sum of products in the order of k with one rounding each: products of halves are exact.
TEST(AicoreArithmetic, SumsHalvesInOrderOnEveryKindOfMachine) {
  constexpr std::size_t kHeight = 13, kDeep = 300, kWide = 75;
  std::vector<std::uint16_t> a(kHeight * kDeep), b(kDeep * kWide);
  // Between 1 and 8, of either sign.
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<std::uint16_t>(0x3C00 + i * 7919 % 0xC00 + (i % 3 == 0 ? 0x8000 : 0));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<std::uint16_t>(0x3C00 + i * 104'729 % 0xC00);
  const ProductPiece piece{reinterpret_cast<const unsigned char*>(a.data()),
                           reinterpret_cast<const unsigned char*>(b.data()), kDeep * 2, kWide * 2,
                           kDeep};
  for (const std::size_t width : {16U, 32U, 64U}) {
    const ProductKernel* const kernel = product_kernel(width);
    if (kernel == nullptr) continue;
    std::vector<float> c(kHeight * kWide, 0.5F), scratch(kernel->scratch(kHeight, kWide));
    kernel->multiply({kHeight, kWide, kWide, Operand::kHalf, true}, &piece, 1, c.data(),
                     scratch.data());
    for (std::size_t i = 0; i < c.size(); ++i) {
      float sum = 0.5F;
      for (std::size_t l = 0; l < kDeep; ++l)
        sum += float_of(DataType::kFp16, a[i / kWide * kDeep + l]) *
               float_of(DataType::kFp16, b[l * kWide + i % kWide]);
      ASSERT_EQ(c[i], sum) << width << " " << i;
    }
  }
}

// A product of floats has no rounding of its own.
TEST(AicoreArithmetic, FusesFloatsInOrderOnEveryKindOfMachine) {
  constexpr std::size_t kHeight = 13, kDeep = 300, kWide = 75;
  std::vector<float> a(kHeight * kDeep), b(kDeep * kWide);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1 + static_cast<float>(i * 7919 % 4096) / 4095;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104'729 % 4096) / 4095;
  const ProductPiece piece{reinterpret_cast<const unsigned char*>(a.data()),
                           reinterpret_cast<const unsigned char*>(b.data()), kDeep * 4, kWide * 4,
                           kDeep};
  for (const std::size_t width : {16U, 32U, 64U}) {
    const ProductKernel* const kernel = product_kernel(width);
    if (kernel == nullptr) continue;
    std::vector<float> c(kHeight * kWide, 0.5F), scratch(kernel->scratch(kHeight, kWide));
    kernel->multiply({kHeight, kWide, kWide, Operand::kFloat, true}, &piece, 1, c.data(),
                     scratch.data());
    for (std::size_t i = 0; i < c.size(); ++i) {
      float sum = 0.5F;
      for (std::size_t l = 0; l < kDeep; ++l)
        sum = std::fma(a[i / kWide * kDeep + l], b[l * kWide + i % kWide], sum);
      ASSERT_EQ(c[i], sum) << width << " " << i;
    }
  }
}

// The largest products: more of them than fp32 holds the sum of, in one piece and in many, and C
// wraps around as an int32 does.
TEST(AicoreArithmetic, SumsOfInt8AreExactAndWrapAround) {
  constexpr std::uint32_t kDeep = 5000;
  const std::vector<std::int8_t> least(kDeep * 16, -128), other(kDeep, 127);
  const auto* const right = reinterpret_cast<const unsigned char*>(least.data());
  for (const auto* left : {least.data(), other.data()}) {
    const auto* const row = reinterpret_cast<const unsigned char*>(left);
    for (const std::uint32_t size : {kDeep, 1000U, 24U, 1U}) {
      std::vector<ProductPiece> pieces;
      for (std::uint32_t k = 0; k < kDeep; k += size)
        pieces.push_back({row + k, right + k * 16, kDeep, 16, std::min(size, kDeep - k)});
      std::int32_t c[3] = {std::numeric_limits<std::int32_t>::max(), 1, 0};
      multiply({1, 3, sizeof c, DataType::kInt8, true}, pieces.data(), pieces.size(),
               reinterpret_cast<unsigned char*>(c));
      const std::int64_t sum = std::int64_t{kDeep} * -128 * left[0];
      EXPECT_EQ(c[0], static_cast<std::int32_t>(static_cast<std::uint32_t>(sum + 0x7FFF'FFFF)));
      EXPECT_EQ(c[1], sum + 1) << size;
      EXPECT_EQ(c[2], sum) << size;
    }
  }
}

TEST(AicoreArithmetic, TransposesWhatItLoads) {
  const std::uint16_t from[2][4] = {{1, 2, 3, 0}, {4, 5, 6, 0}};
  std::uint16_t to[3][16] = {};
  copy({2, 3, 8}, reinterpret_cast<const unsigned char*>(from),
       reinterpret_cast<unsigned char*>(to), 32, 2, true);
  EXPECT_EQ(to[0][1], 4);
  EXPECT_EQ(to[2][0], 3);
  EXPECT_EQ(to[2][1], 6);
}

// UB with x = 1, 2, 3, ... in fp32 at 0 and the result at 64 KiB.
std::vector<float> result_of(Vector vector, std::size_t elements) {
  std::vector<float> ub(48 * 1024);
  for (std::size_t i = 0; i < 16 * 1024; ++i) ub[i] = static_cast<float>(i + 1);
  vector.to = 64 * 1024;
  execute(vector, reinterpret_cast<unsigned char*>(ub.data()));
  return {ub.begin() + 16 * 1024, ub.begin() + 16 * 1024 + static_cast<std::ptrdiff_t>(elements)};
}

Vector operation(VectorOp op, std::uint32_t count) {
  Vector vector;
  vector.op = op;
  vector.count = count;
  return vector;
}

TEST(AicoreArithmetic, ComputesElementByElement) {
  auto add = operation(VectorOp::kAdd, 2000);
  add.b = 4 * 8;
  EXPECT_EQ(result_of(add, 2000)[1999], 2000.0F + 2008.0F);
  auto twice = operation(VectorOp::kMuls, 3);
  twice.scalar = 2;
  EXPECT_EQ(result_of(twice, 4), (std::vector<float>{2, 4, 6, 0}));
  EXPECT_EQ(result_of(operation(VectorOp::kRsqrt, 4), 4)[3], 0.5F);
  EXPECT_EQ(result_of(operation(VectorOp::kExp, 2), 2)[1], std::exp(2.0F));
  auto same = operation(VectorOp::kDuplicate, 2);
  same.scalar = 9;
  EXPECT_EQ(result_of(same, 3), (std::vector<float>{9, 9, 0}));
}

TEST(AicoreArithmetic, ReducesAndBroadcastsRowByRow) {
  auto sum = operation(VectorOp::kReduceSum, 100);
  sum.rows = 2;
  EXPECT_EQ(result_of(sum, 2), (std::vector<float>{5050, 15050}));
  auto most = operation(VectorOp::kReduceMax, 100);
  most.rows = 3;
  EXPECT_EQ(result_of(most, 3), (std::vector<float>{100, 200, 300}));
  auto less = operation(VectorOp::kBroadcastSub, 2);
  less.rows = 3;
  EXPECT_EQ(result_of(less, 6), (std::vector<float>{0, 1, 1, 2, 2, 3}));
  auto same = operation(VectorOp::kBroadcast, 2);
  same.rows = 3;
  EXPECT_EQ(result_of(same, 6), (std::vector<float>{1, 1, 2, 2, 3, 3}));
}

TEST(AicoreArithmetic, TakesTheSignFromEveryKindOfNumber) {
  float ub[32] = {-std::nanf(""), -0.0F, -std::numeric_limits<float>::infinity(), -2};
  auto size = operation(VectorOp::kAbs, 4);
  size.to = 64;
  execute(size, reinterpret_cast<unsigned char*>(ub));
  for (unsigned i = 16; i < 20; ++i) EXPECT_FALSE(std::signbit(ub[i])) << i;
  EXPECT_TRUE(std::isnan(ub[16]));
  EXPECT_EQ(ub[19], 2);
}

TEST(AicoreArithmetic, RoundsHalvesOnceBehindComputingInFp32) {
  std::uint16_t ub[64] = {half_of(2048.0F)};
  ub[16] = half_of(1.0F);
  auto add = operation(VectorOp::kAdd, 1);
  add.type = DataType::kFp16;
  add.b = 32;
  add.to = 64;
  execute(add, reinterpret_cast<unsigned char*>(ub));
  EXPECT_EQ(ub[32], half_of(2048.0F));
}

TEST(AicoreArithmetic, ComputesInt32Exactly) {
  std::int32_t ub[48] = {16'777'217, std::numeric_limits<std::int32_t>::max()};
  auto add = operation(VectorOp::kAdds, 2);
  add.type = DataType::kInt32;
  add.scalar = 2;
  add.to = 64;
  execute(add, reinterpret_cast<unsigned char*>(ub));
  EXPECT_EQ(ub[16], 16'777'219);
  EXPECT_EQ(ub[17], std::numeric_limits<std::int32_t>::min() + 1);
}

}  // namespace
}  // namespace npu::model::arithmetic
