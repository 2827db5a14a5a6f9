// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/text_casts.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/support/matchers.hpp"

namespace npu::network {
namespace {

using testing::ElementsAre;

Tensor texts(const std::vector<std::string>& values) {
  Tensor made{ElementType::kString, {values.size()}, {}, {}};
  made.strings = values;
  return made;
}

template <class T>
std::vector<T> numbers(ElementType type, const std::vector<std::string>& values) {
  const auto made = from_text(texts(values), type);
  EXPECT_TRUE(made) << made.error().message();
  return made ? made->values<T>() : std::vector<T>();
}

TEST(TextCasts, RealsAreTheShortestTextOfTheirType) {
  const std::vector<float> values{0.1F,  0.039187793F, 2,        -0.0F,    1e-7F,
                                  1e16F, 16777216,     INFINITY, -INFINITY};
  EXPECT_THAT(to_text(Tensor::of(ElementType::kFloat, {9}, values)).strings,
              ElementsAre("0.1", "0.039187793", "2.0", "-0.0", "1e-07", "1e+16", "16777216.0",
                          "inf", "-inf"));
  EXPECT_THAT(to_text(Tensor::of<double>(ElementType::kDouble, {2}, {0.1, 1e300})).strings,
              ElementsAre("0.1", "1e+300"));
  // 0.1 and 65504 of fp16; 0.1 of bf16.
  EXPECT_THAT(
      to_text(Tensor::of<std::uint16_t>(ElementType::kFloat16, {3}, {0x2E66, 0x7BFF, 0x7E00}))
          .strings,
      ElementsAre("0.1", "65500.0", "nan"));
  EXPECT_THAT(to_text(Tensor::of<std::uint16_t>(ElementType::kBfloat16, {1}, {0x3DCD})).strings,
              ElementsAre("0.1"));
}

TEST(TextCasts, IntegersAndTruth) {
  const auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(to_text(Tensor::of<std::int64_t>(ElementType::kInt64, {2}, {least, 7})).strings,
              ElementsAre("-9223372036854775808", "7"));
  EXPECT_THAT(to_text(Tensor::of<std::int8_t>(ElementType::kInt8, {1}, {-128})).strings,
              ElementsAre("-128"));
  EXPECT_THAT(to_text(Tensor::of<std::uint8_t>(ElementType::kBool, {2}, {1, 0})).strings,
              ElementsAre("True", "False"));
}

TEST(TextCasts, TextsAreNumbers) {
  const auto reals =
      numbers<float>(ElementType::kFloat, {"0.47892547", "1e-5", "+INF", "-inf", "NaN"});
  ASSERT_EQ(reals.size(), 5U);
  EXPECT_EQ(reals[0], 0.47892547F);
  EXPECT_EQ(reals[1], 1e-5F);
  EXPECT_EQ(reals[2], INFINITY);
  EXPECT_EQ(reals[3], -INFINITY);
  EXPECT_TRUE(std::isnan(reals[4]));
  EXPECT_THAT(numbers<std::int8_t>(ElementType::kInt8, {"-128", "127"}), ElementsAre(-128, 127));
  EXPECT_THAT(numbers<std::uint64_t>(ElementType::kUint64, {"18446744073709551615"}),
              ElementsAre(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_THAT(numbers<std::uint16_t>(ElementType::kFloat16, {"0.1"}), ElementsAre(0x2E66));
}

TEST(TextCasts, WhatIsNoNumberOfTheTypeIsNamed) {
  const auto refused = [](const std::string& text, ElementType type) {
    return from_text(texts({"1", text}), type);
  };
  EXPECT_THAT(refused("abc", ElementType::kFloat),
              test::FailsWith(ErrorCode::kInvalidArgument, "into float: element 1 is 'abc'"));
  for (const auto* text : {"", " 1", "1 ", "1.5", "128", "-129", "0x10", "99999999999999999999"}) {
    EXPECT_FALSE(refused(text, ElementType::kInt8)) << text;
  }
  EXPECT_FALSE(refused("-1", ElementType::kUint32));
  EXPECT_FALSE(refused("1", ElementType::kBool));
}

TEST(TextCasts, OfATypeComeBack) {
  std::vector<std::uint16_t> every(1U << 16);
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::uint16_t>(i);
  for (const auto type : {ElementType::kFloat16, ElementType::kBfloat16}) {
    const auto back = from_text(to_text(Tensor::of(type, {every.size()}, every)), type);
    ASSERT_TRUE(back);
    const auto values = back->values<std::uint16_t>();
    const unsigned infinite = type == ElementType::kFloat16 ? 0x7C00 : 0x7F80;
    for (std::size_t i = 0; i < every.size(); ++i) {
      if ((i & 0x7FFFU) <= infinite) {  // others are no numbers
        ASSERT_EQ(values[i], every[i]);
      }
    }
  }
}

}  // namespace
}  // namespace npu::network
