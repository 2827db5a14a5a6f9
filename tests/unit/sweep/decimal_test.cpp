// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/decimal.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace npu::sweep {
namespace {

int sign(int value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

TEST(Decimal, IsDigitsWithAtMostOnePoint) {
  for (const auto* text : {"0", "12", "-3", "0.250", "-0.5", "18446744073709551616"}) {
    EXPECT_TRUE(is_decimal(text)) << text;
  }
  for (const auto* text : {"", "-", ".5", "5.", "1.2.3", "1e5", "+1", " 1", "--1", "0x5", "1,5"}) {
    EXPECT_FALSE(is_decimal(text)) << text;
  }
}

TEST(Decimal, TrailingAndLeadingZerosDoNotCount) {
  EXPECT_EQ(compare_decimals("1.50", "1.5"), 0);
  EXPECT_EQ(compare_decimals("007", "7.000"), 0);
  EXPECT_EQ(compare_decimals("-0", "0.0"), 0);
}

TEST(Decimal, MoreDigitsThanFloatingPointHasAreCompared) {
  EXPECT_LT(compare_decimals("9007199254740992", "9007199254740993"), 0);
  EXPECT_GT(compare_decimals("0.10000000000000000001", "0.1"), 0);
  EXPECT_LT(compare_decimals("-9007199254740993", "-9007199254740992"), 0);
}

TEST(Decimal, OrderIsThatOfIntegersWithTheirPointMoved) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> number(-20000, 20000);
  const auto text = [](int thousandths) {
    const int whole = std::abs(thousandths);
    std::string fraction = std::to_string(whole % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    return (thousandths < 0 ? "-" : "") + std::to_string(whole / 1000) + "." + fraction;
  };
  for (int i = 0; i < 20000; ++i) {
    const int a = number(random), b = number(random);
    EXPECT_EQ(sign(compare_decimals(text(a), text(b))), sign(a - b)) << text(a) << " " << text(b);
  }
}

}  // namespace
}  // namespace npu::sweep
