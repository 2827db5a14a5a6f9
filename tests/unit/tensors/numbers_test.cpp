// SPDX-License-Identifier: Apache-2.0
#include "firmware/tensors/numbers.hpp"

#include <gtest/gtest.h>

#include <random>

namespace npu::firmware {
namespace {

struct Small {
  TensorNumber type;
  int exponent, fraction;
};
constexpr Small kHalf{TensorNumber::kFloat16, 5, 10}, kBrain{TensorNumber::kBfloat16, 8, 7};

TEST(Numbers, EveryRealOfTwoBytesIsReadAgain) {
  for (const auto& small : {kHalf, kBrain}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = unpack(bits, small.exponent, small.fraction);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(
            unpack(pack(value, small.exponent, small.fraction), small.exponent, small.fraction)));
      } else {
        ASSERT_EQ(pack(value, small.exponent, small.fraction), bits);
      }
    }
  }
}

// Between neighbours the nearer one, and of two the even one.
TEST(Numbers, RealsAreRoundedToTheNearestEvenOne) {
  for (const auto& small : {kHalf, kBrain}) {
    const auto value = [&](std::uint32_t bits) {
      return unpack(bits, small.exponent, small.fraction);
    };
    const std::uint32_t infinite = ((1U << small.exponent) - 1) << small.fraction;
    for (std::uint32_t bits = 0; bits + 1 < infinite; ++bits) {
      const double low = value(bits), high = value(bits + 1), middle = low + (high - low) / 2;
      const auto packed = [&](double each) { return pack(each, small.exponent, small.fraction); };
      ASSERT_EQ(packed(middle), bits + (bits & 1)) << bits;
      ASSERT_EQ(packed(std::nextafter(middle, low)), bits) << bits;
      ASSERT_EQ(packed(std::nextafter(middle, high)), bits + 1) << bits;
    }
  }
}

TEST(Numbers, WhatIsTooLargeIsInfinite) {
  EXPECT_EQ(pack(65519.99, 5, 10), 0x7BFFU);
  EXPECT_EQ(pack(65520, 5, 10), 0x7C00U);
  EXPECT_EQ(pack(-1e300, 5, 10), 0xFC00U);
  EXPECT_EQ(pack(std::numeric_limits<float>::max(), 8, 7), 0x7F80U);
}

TEST(Numbers, FloatIsTheConversionOfTheMachine) {
  std::mt19937_64 random{3};
  for (int i = 0; i < 10'000; ++i) {
    const auto value = same_bits<double>(random());
    if (std::isnan(value)) continue;
    EXPECT_EQ(bits_of(TensorNumber::kFloat32, Number::of(value)),
              same_bits<std::uint32_t>(static_cast<float>(value)));
  }
}

TEST(Numbers, RealsIntoIntegersLoseTheirFractionAndStopAtTheBounds) {
  const auto bits = [](TensorNumber type, double value) {
    return bits_of(type, Number::of(value));
  };
  EXPECT_EQ(bits(TensorNumber::kInt32, -2.9) & 0xFFFFFFFF, 0xFFFFFFFEU);
  EXPECT_EQ(bits(TensorNumber::kUint8, 255.9), 255U);
  EXPECT_EQ(bits(TensorNumber::kUint8, 1e9), 255U);
  EXPECT_EQ(bits(TensorNumber::kUint8, -1), 0U);
  EXPECT_EQ(bits(TensorNumber::kInt64, 1e30), 0x7FFF'FFFF'FFFF'FFFFU);
  EXPECT_EQ(bits(TensorNumber::kUint64, 1e30), ~std::uint64_t{0});
  EXPECT_EQ(bits(TensorNumber::kInt16, std::nan("")), 0U);
  EXPECT_EQ(bits(TensorNumber::kBool, std::nan("")), 1U);
}

TEST(Numbers, IntegersOfOtherTypesKeepTheirLowestBits) {
  EXPECT_EQ(bits_of(TensorNumber::kUint8, number_of(TensorNumber::kInt64, 0x1FF)) & 0xFF, 0xFFU);
  EXPECT_EQ(bits_of(TensorNumber::kInt64, number_of(TensorNumber::kInt8, 0x80)),
            0xFFFF'FFFF'FFFF'FF80U);
  EXPECT_EQ(bits_of(TensorNumber::kFloat64, number_of(TensorNumber::kUint64, ~std::uint64_t{0})),
            same_bits<std::uint64_t>(18446744073709551616.0));
}

}  // namespace
}  // namespace npu::firmware
