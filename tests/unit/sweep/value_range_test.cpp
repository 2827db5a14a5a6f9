// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/value_range.hpp"

#include <gmock/gmock.h>

namespace npu::sweep {
namespace {

using testing::ElementsAre;

std::string error_of_range(const ValueRange& range) {
  const auto values = values_of(range);
  return values ? "no error" : values.error();
}

TEST(ValueRange, AStepGoesUpToTheLastValueThatDoesNotPassTheEnd) {
  EXPECT_THAT(*values_of({"1", "7", "3", ""}), ElementsAre("1", "4", "7"));
  EXPECT_THAT(*values_of({"1", "6", "3", ""}), ElementsAre("1", "4"));
  EXPECT_THAT(*values_of({"5", "5", "1", ""}), ElementsAre("5"));
  EXPECT_THAT(*values_of({"0", "2", "1", ""}), ElementsAre("0", "1", "2"));
}

TEST(ValueRange, AFactorMultiplies) {
  EXPECT_THAT(*values_of({"1", "100", "", "10"}), ElementsAre("1", "10", "100"));
  EXPECT_THAT(*values_of({"3", "25", "", "2"}), ElementsAre("3", "6", "12", "24"));
}

TEST(ValueRange, SizesKeepUnits) {
  EXPECT_THAT(*values_of({"512B", "4KiB", "", "2"}), ElementsAre("512B", "1KiB", "2KiB", "4KiB"));
  EXPECT_THAT(*values_of({"1KiB", "2KiB", "512B", ""}), ElementsAre("1KiB", "1536B", "2KiB"));
}

TEST(ValueRange, DecimalsHaveAsManyDigitsAsTheLongest) {
  EXPECT_THAT(*values_of({"0.5", "1", "0.25", ""}), ElementsAre("0.50", "0.75", "1.00"));
  EXPECT_THAT(*values_of({"0", "0.01", "0.005", ""}), ElementsAre("0.000", "0.005", "0.010"));
}

TEST(ValueRange, TheLargestNumberEndsIt) {
  EXPECT_THAT(*values_of({"18446744073709551614", "18446744073709551615", "1", ""}),
              ElementsAre("18446744073709551614", "18446744073709551615"));
  EXPECT_THAT(*values_of({"9223372036854775808", "18446744073709551615", "", "2"}),
              ElementsAre("9223372036854775808"));
}

TEST(ValueRange, WhatCannotBeIsNamed) {
  const std::string number =
      "'; allowed: an integer, a size such as 4KiB, or a decimal such as 0.75";
  EXPECT_EQ(error_of_range({"x", "7", "1", ""}), "from: found 'x" + number);
  EXPECT_EQ(error_of_range({"1", "-7", "1", ""}), "to: found '-7" + number);
  EXPECT_EQ(error_of_range({"4", "3", "1", ""}), "to: found '3'; allowed: from 4 on");
  EXPECT_EQ(error_of_range({"1", "3", "0", ""}), "step: found '0'; allowed: above 0");
  EXPECT_EQ(error_of_range({"1", "3", "", "1"}),
            "factor: found '1'; allowed: an integer from 2 on");
  EXPECT_EQ(error_of_range({"0", "3", "", "2"}), "from: found '0'; allowed: above 0 with a factor");
  EXPECT_EQ(error_of_range({"1", "100001", "1", ""}),
            "to: found '100001'; allowed: 100000 values at most");
  EXPECT_EQ(error_of_range({"0.5", "4KiB", "1", ""}),
            "from: found '0.5'; allowed: sizes or decimals, with 9 digits at most");
}

}  // namespace
}  // namespace npu::sweep
