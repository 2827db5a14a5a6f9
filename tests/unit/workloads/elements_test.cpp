// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/elements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace npu::workloads {
namespace {

std::uint16_t bits16(DataType type, double value) {
  std::byte bytes[2];
  store_element(type, bytes, 0, value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}
double value16(DataType type, std::uint16_t bits) {
  std::byte bytes[2];
  std::memcpy(bytes, &bits, sizeof bits);
  return load_element(type, bytes, 0);
}

// IEEE 754 binary16, values of its tables.
TEST(ElementsTest, HalfPrecision) {
  const auto type = DataType::kFp16;
  EXPECT_EQ(bits16(type, 1), 0x3C00);
  EXPECT_EQ(bits16(type, -2), 0xC000);
  EXPECT_EQ(bits16(type, 65504), 0x7BFF) << "the largest";
  EXPECT_EQ(bits16(type, 65519), 0x7BFF);
  EXPECT_EQ(bits16(type, 65520), 0x7C00) << "rounds to infinity";
  EXPECT_EQ(bits16(type, std::ldexp(1, -24)), 0x0001) << "the smallest subnormal";
  EXPECT_EQ(bits16(type, std::ldexp(1, -14)), 0x0400) << "the smallest normal";
  EXPECT_EQ(bits16(type, 1 + std::ldexp(1, -11)), 0x3C00) << "half way: to even";
  EXPECT_EQ(bits16(type, 1 + 3 * std::ldexp(1, -11)), 0x3C02) << "half way: to even";
}

TEST(ElementsTest, Bfloat) {
  const auto type = DataType::kBf16;
  EXPECT_EQ(bits16(type, 1), 0x3F80);
  EXPECT_EQ(bits16(type, 1 + std::ldexp(1, -8)), 0x3F80) << "half way: to even";
  EXPECT_EQ(bits16(type, 1 + 3 * std::ldexp(1, -8)), 0x3F82);
  EXPECT_EQ(bits16(type, 1e39), 0x7F80);
}

TEST(ElementsTest, EveryFiniteValueOfSixteenBitsComesBack) {
  for (const auto type : {DataType::kFp16, DataType::kBf16}) {
    for (std::uint32_t bits = 0; bits < 0x1'0000; ++bits) {
      const double value = value16(type, static_cast<std::uint16_t>(bits));
      if (std::isnan(value)) continue;
      ASSERT_EQ(bits16(type, value), bits) << name_of(type);
    }
  }
}

// Among them numbers that lie half way between two, and so many that vectors do not hold all.
TEST(ElementsTest, ManyAtOnceAreAsEachByItself) {
  std::vector<double> numbers;
  for (int i = -700; i < 701; ++i) numbers.push_back(std::ldexp(1 + i * 0x1p-11, i / 16));
  const std::vector<float> floats(numbers.begin(), numbers.end());
  for (const auto type : {DataType::kFp16, DataType::kBf16, DataType::kFp32, DataType::kInt8,
                          DataType::kInt32, DataType::kInt64}) {
    const auto size = platform::bytes_of(type);
    std::vector<std::byte> many(numbers.size() * size), single(many.size()), wide(many.size());
    store_elements(type, many.data(), floats.size(), floats.data());
    store_elements(type, wide.data(), numbers.size(), numbers.data());
    for (std::size_t i = 0; i < floats.size(); ++i)
      store_element(type, single.data(), i, double{floats[i]});
    EXPECT_EQ(many, single) << name_of(type);
    std::vector<double> back(numbers.size());
    std::vector<float> narrow(numbers.size());
    load_elements(type, wide.data(), back.size(), back.data());
    load_elements(type, wide.data(), narrow.size(), narrow.data());
    for (std::size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(back[i], load_element(type, wide.data(), i)) << name_of(type);
      EXPECT_EQ(narrow[i], static_cast<float>(back[i])) << name_of(type);
    }
  }
}

TEST(ElementsTest, NoNumbersAndInfinities) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto type : {DataType::kFp16, DataType::kBf16}) {
    const auto bits = bits16(type, infinity);
    EXPECT_EQ(value16(type, bits), infinity);
    EXPECT_EQ(bits16(type, -infinity), bits | 0x8000);
    EXPECT_TRUE(std::isnan(value16(type, bits16(type, std::nan("")))));
    EXPECT_TRUE(std::isnan(value16(type, bits | 1)));
    EXPECT_EQ(bits16(type, -0.0), 0x8000);
    EXPECT_EQ(bits16(type, 1e-300), 0);
  }
}

TEST(ElementsTest, NoNumberIsAsFarFromANumberAsCanBe) {
  const double infinity = std::numeric_limits<double>::infinity(), none = std::nan("");
  EXPECT_EQ(distance_of(2, 5), 3);
  EXPECT_EQ(distance_of(none, none), 0);
  EXPECT_EQ(distance_of(-infinity, -infinity), 0);
  for (const double other : {0.0, 1.0, -1e300}) {
    EXPECT_EQ(distance_of(none, other), infinity);
    EXPECT_EQ(distance_of(other, none), infinity);
    EXPECT_EQ(distance_of(infinity, other), infinity);
    EXPECT_EQ(distance_of(other, -infinity), infinity);
  }
  EXPECT_EQ(distance_of(infinity, none), infinity);
  EXPECT_EQ(distance_of(none, infinity), infinity);
  EXPECT_EQ(distance_of(infinity, -infinity), infinity);
  EXPECT_EQ(finite_size(-2), 2);
  EXPECT_EQ(finite_size(none), 0);
  EXPECT_EQ(finite_size(-infinity), 0);
}

TEST(ElementsTest, IntegersSaturate) {
  std::byte byte[1];
  store_element(DataType::kInt8, byte, 0, 200);
  EXPECT_EQ(load_element(DataType::kInt8, byte, 0), 127);
  store_element(DataType::kInt8, byte, 0, -3.5);
  EXPECT_EQ(load_element(DataType::kInt8, byte, 0), -4) << "half way: to even";
}

TEST(ElementsTest, ExactValuesAreExactInEveryType) {
  for (const auto type : {DataType::kFp16, DataType::kBf16, DataType::kFp32, DataType::kInt8}) {
    std::byte bytes[4'000];  // several times as many as are made at once
    const auto count = sizeof bytes / platform::bytes_of(type);
    fill_exact(type, {bytes, sizeof bytes}, 7);
    for (std::uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(load_element(type, bytes, i), exact_value(type, 7, i)) << name_of(type);
    }
  }
}

TEST(ElementsTest, ExactValuesCanBeMadePieceByPiece) {
  std::byte whole[2'000], pieces[2'000];
  fill_exact(DataType::kFp16, {whole, sizeof whole}, 7);
  fill_exact(DataType::kFp16, {pieces, 600}, 7);
  fill_exact(DataType::kFp16, {pieces + 600, 1'400}, 7, 300);
  EXPECT_EQ(std::memcmp(whole, pieces, sizeof whole), 0);
}

TEST(ElementsTest, NamesGoBothWays) {
  for (const auto* name : {"fp16", "bf16", "fp32", "int8", "int32"}) {
    EXPECT_EQ(name_of(type_of(name)), name);
  }
}

}  // namespace
}  // namespace npu::workloads
