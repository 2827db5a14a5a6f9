// SPDX-License-Identifier: Apache-2.0
// IEEE 754 binary16 and bfloat16 against their definitions.
#include "workloads/task_graph/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace npu::workloads {
namespace {

std::uint16_t bits_of(DataType type, double value) {
  std::byte bytes[4] = {};
  store_element(bytes, type, value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

double through(DataType type, double value) {
  std::byte bytes[4] = {};
  store_element(bytes, type, value);
  return load_element(bytes, type);
}

TEST(Element, HalfHasOneSignFiveExponentAndTenFractionBits) {
  EXPECT_EQ(bits_of(DataType::kFp16, 1), 0x3C00);
  EXPECT_EQ(bits_of(DataType::kFp16, -2), 0xC000);
  EXPECT_EQ(bits_of(DataType::kFp16, 65504), 0x7BFF);
  EXPECT_EQ(bits_of(DataType::kFp16, 65520), 0x7C00);
  EXPECT_EQ(bits_of(DataType::kFp16, std::ldexp(1, -14)), 0x0400);
  EXPECT_EQ(bits_of(DataType::kFp16, std::ldexp(1, -24)), 0x0001);
  EXPECT_EQ(bits_of(DataType::kFp16, 0), 0x0000);
}

TEST(Element, HalfRoundsToEven) {
  EXPECT_EQ(through(DataType::kFp16, 1 + std::ldexp(1, -11)), 1);
  EXPECT_EQ(through(DataType::kFp16, 1 + 3 * std::ldexp(1, -11)), 1 + std::ldexp(1, -9));
  EXPECT_EQ(through(DataType::kFp16, 2 - std::ldexp(1, -12)), 2);
  EXPECT_EQ(through(DataType::kFp16, std::ldexp(1, -25)), 0);
}

TEST(Element, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x1'0000; ++bits) {
    if ((bits & 0x7C00) == 0x7C00) continue;
    const auto half = static_cast<std::uint16_t>(bits);
    std::byte bytes[2];
    std::memcpy(bytes, &half, sizeof half);
    ASSERT_EQ(bits_of(DataType::kFp16, load_element(bytes, DataType::kFp16)), half);
  }
}

TEST(Element, BrainFloatIsTheUpperHalfOfAFloat) {
  EXPECT_EQ(bits_of(DataType::kBf16, 1), 0x3F80);
  EXPECT_EQ(through(DataType::kBf16, 1 + std::ldexp(1, -8)), 1);
  EXPECT_EQ(through(DataType::kBf16, 1 + 3 * std::ldexp(1, -8)), 1 + std::ldexp(1, -6));
}

TEST(Element, IntegersAreSaturated) {
  EXPECT_EQ(through(DataType::kInt8, 200), 127);
  EXPECT_EQ(through(DataType::kInt8, -200), -128);
  EXPECT_EQ(through(DataType::kInt8, 2.5), 2);
  EXPECT_EQ(through(DataType::kInt32, -1e12), -2147483648.0);
}

}  // namespace
}  // namespace npu::workloads
