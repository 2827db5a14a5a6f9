// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/expression.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace npu::workloads {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// Of text with n = 7 and i = 3; a mistake is "offset: problem".
std::string value_of(const std::string& text) {
  const auto parsed = Expression::parse(text, {"n", "i"});
  const auto result = parsed ? parsed->evaluate({7, 3}) : tl::unexpected(parsed.error());
  if (result) return std::to_string(*result);
  return std::to_string(result.error().offset) + ": " + result.error().problem;
}

TEST(Expression, ProductsBindTighterThanSumsAndThoseThanComparisons) {
  EXPECT_EQ(value_of("1 + 2 * 3"), "7");
  EXPECT_EQ(value_of("(1 + 2) * 3"), "9");
  EXPECT_EQ(value_of("10 - 3 - 2"), "5");
  EXPECT_EQ(value_of("24 / 4 / 2"), "3");
  EXPECT_EQ(value_of("1 + 1 == 2"), "1");
  EXPECT_EQ(value_of("-2 * -(3)"), "6");
}

TEST(Expression, NamesHaveTheirValues) {
  EXPECT_EQ(value_of("n"), "7");
  EXPECT_EQ(value_of("2*n - i"), "11");
}

TEST(Expression, ComparisonsAreOneOrZero) {
  EXPECT_EQ(value_of("i < n"), "1");
  EXPECT_EQ(value_of("i > n"), "0");
  EXPECT_EQ(value_of("i <= 3"), "1");
  EXPECT_EQ(value_of("i >= 4"), "0");
  EXPECT_EQ(value_of("i != 3"), "0");
  EXPECT_EQ(value_of("i == 3"), "1");
}

TEST(Expression, DivisionRoundsDownSoThatARestIsNeverNegative) {
  EXPECT_EQ(value_of("-1 % 4"), "3");
  EXPECT_EQ(value_of("-1 / 4"), "-1");
  EXPECT_EQ(value_of("-8 / 4"), "-2");
  EXPECT_EQ(value_of("-8 % 4"), "0");
  EXPECT_EQ(value_of("7 % -4"), "-1");
  EXPECT_EQ(value_of("7 / -4"), "-2");
}

TEST(Expression, DivisionByZeroIsPlacedAtItsOperator) {
  EXPECT_EQ(value_of("1 + n / (i - 3)"), "6: division by zero");
  EXPECT_EQ(value_of("n % 0"), "2: division by zero");
}

TEST(Expression, OverflowIsAnErrorAndNotAnotherNumber) {
  const std::string largest = std::to_string(kLargest);
  EXPECT_EQ(value_of(largest), largest);
  EXPECT_EQ(value_of(largest + " + 1"), "20: the result is too large");
  EXPECT_EQ(value_of("9223372036854775808"), "0: the number is too large");
  EXPECT_EQ(value_of("-" + largest + " - 2"), "21: the result is too large");
  EXPECT_EQ(value_of("4294967296 * 4294967296"), "11: the result is too large");
  EXPECT_EQ(value_of("(-" + largest + " - 1) / -1"), "27: the result is too large");
  EXPECT_EQ(value_of("-(-" + largest + " - 1)"), "0: the result is too large");
  EXPECT_EQ(value_of("(-" + largest + " - 1) % -1"), "0");
}

TEST(Expression, MistakesSayWhereTheyAre) {
  EXPECT_EQ(value_of(""), "0: a number or a name is expected here");
  EXPECT_EQ(value_of("1 +"), "3: a number or a name is expected here");
  EXPECT_EQ(value_of("1 2"), "2: an operator is expected here");
  EXPECT_EQ(value_of("(1 + 2"), "0: is never closed");
  EXPECT_EQ(value_of("1)"), "1: an operator is expected here");
  EXPECT_EQ(value_of("n + m"), "4: nothing is called 'm' here");
  EXPECT_EQ(value_of("2n"), "0: is no number");
  EXPECT_EQ(value_of("1.5"), "1: an operator is expected here");
}

TEST(Expression, TheLastOfEqualNamesCounts) {
  const auto parsed = Expression::parse("i", {"i", "i"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->evaluate({1, 2}), 2);
}

TEST(Expression, DepthAndLengthAreLimited) {
  const std::string deep = std::string(24, '(') + "1" + std::string(24, ')');
  EXPECT_EQ(value_of(deep), "1");
  EXPECT_EQ(value_of("(" + deep + ")"), "24: too many parentheses inside each other");
  EXPECT_EQ(value_of(std::string(401, ' ')), "0: longer than 400 characters");
}

TEST(Expression, TheDeepestOneFitsItsStack) {
  // Each level holds a comparison's, a sum's and a product's left side.
  std::string text = "1";
  for (int i = 0; i < 24; ++i) text = "0<0+1*(" + text + ")";
  EXPECT_EQ(value_of(text), "1");
}

}  // namespace
}  // namespace npu::workloads
