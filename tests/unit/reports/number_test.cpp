// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/number.hpp"

#include <gtest/gtest.h>

namespace npu::reports {
namespace {

TEST(Number, NanosecondsAlwaysCarryThreeDecimals) {
  EXPECT_EQ(Number::nanoseconds(Picoseconds(150'000)).text(), "150.000");
  EXPECT_EQ(Number::nanoseconds(Picoseconds(1)).text(), "0.001");
  EXPECT_EQ(Number::nanoseconds(Picoseconds(12'034)).text(), "12.034");
}

TEST(Number, NegativeNumbersKeepTheirDigits) {
  EXPECT_EQ(Number::nanoseconds(Picoseconds(-5)).text(), "-0.005");
  EXPECT_EQ(Number::integer(-7).text(), "-7");
}

TEST(Number, MicrosecondsKeepEveryPicosecond) {
  EXPECT_EQ(Number::microseconds(Picoseconds(1'000'001)).text(), "1.000001");
}

TEST(Number, QuotientsRoundHalfUp) {
  EXPECT_EQ(Number::quotient(1, 8, 2).text(), "0.13");
  EXPECT_EQ(Number::quotient(2, 3, 3).text(), "0.667");
  EXPECT_EQ(Number::quotient(5, 0, 3).text(), "0.000");
}

TEST(Number, QuotientsOfLargeNumbersDoNotOverflow) {
  EXPECT_EQ(Number::quotient(1ULL << 60, 1ULL << 50, 9).text(), "1024.000000000");
}

TEST(Number, OneBytePerNanosecondIsOneGigabytePerSecond) {
  EXPECT_EQ(Number::gb_per_s(1'000, 1_us).text(), "1.000");
  EXPECT_EQ(Number::gb_per_s(Bytes{1} << 30, 1_s).text(), "1.074");
}

TEST(Number, PercentOfAThird) {
  EXPECT_EQ(Number::percent(1, 3).text(), "33.333");
}

TEST(Number, ReadsWhatItPrints) {
  for (const auto* text :
       {"0", "-12.034", "150.000", "0.000000001", "9223372036854775807", "-9223372036854775808"}) {
    const auto number = Number::parse(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->text(), text);
  }
}

TEST(Number, ReadsNothingElse) {
  for (const auto* text : {"", "-", ".5", "5.", "007", "-0", "+1", "1e3", "1.0000000001", " 1",
                           "9223372036854775808", "0x10", "1,5"}) {
    EXPECT_FALSE(Number::parse(text)) << text;
  }
}

TEST(SizeName, UsesTheLargestUnitThatDivides) {
  EXPECT_EQ(size_name(64), "64B");
  EXPECT_EQ(size_name(4_KiB), "4KiB");
  EXPECT_EQ(size_name(1_MiB), "1MiB");
  EXPECT_EQ(size_name(1_GiB), "1GiB");
  EXPECT_EQ(size_name(1536), "1536B");
  EXPECT_EQ(size_name(0), "0B");
}

}  // namespace
}  // namespace npu::reports
