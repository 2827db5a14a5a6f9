// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/expression_row.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace npu::workloads {
namespace {

constexpr std::size_t kCount = 40;

// Of n = -7 and i from `first` on, beside what Expression says of each.
void expect_the_same(const std::string& text, std::int64_t first) {
  const auto parsed = Expression::parse(text, {"n", "i"});
  ASSERT_TRUE(parsed) << text;
  ExpressionRow row(*parsed, kCount);
  for (int round = 0; round < 2; ++round) {
    const auto* const results = row.evaluate({-7, first}, kCount);
    bool all = true;
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto expected = parsed->evaluate({-7, first + static_cast<std::int64_t>(i)});
      all = all && expected.has_value();
      if (!expected || results == nullptr) continue;
      EXPECT_EQ(results[i], *expected) << text << " " << i;
    }
    EXPECT_EQ(results != nullptr, all) << text;
  }
}

TEST(ExpressionRow, GivesWhatEachValueOfTheLastNameGives) {
  for (const char* text : {"5",
                           "n",
                           "i",
                           "-i",
                           "--i",
                           "-n",
                           "-(3)",
                           "i + n",
                           "n - i",
                           "i - 2 * n",
                           "i * i * n",
                           "(n * 7 + i * 3) % 17 - 8",
                           "i % n",
                           "i / n",
                           "n % (i + 100)",
                           "n / (i + 100)",
                           "1 - -i * -(i - 2)",
                           "i < 3",
                           "n <= i",
                           "i > 3",
                           "i >= n",
                           "i == 5",
                           "i != 5",
                           "0<0+1*(0<0+1*(i - 4))",
                           "n / 2 % 3 + (n < 0) * i"}) {
    expect_the_same(text, 0);
    expect_the_same(text, -20);
  }
}

TEST(ExpressionRow, HasNothingIfOneOfThemIsAnError) {
  const std::string most = std::to_string(std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"1 / i", "n % (i - 39)", "1 / (n + 7)"}) expect_the_same(text, 0);
  expect_the_same(most + " - 39 + i", 0);
  expect_the_same(most + " - 38 + i", 0);
  expect_the_same("(0 - " + most + " + i - 21) / -1", 20);
  expect_the_same("-(0 - " + most + " + i - 21)", 20);
  expect_the_same("4294967296 * 268435456 * i", -8);
}

TEST(ExpressionRow, ValuesMayBeFewerThanItHasRoomFor) {
  const auto parsed = Expression::parse("10 / (i - 3)", {"i"});
  ASSERT_TRUE(parsed);
  ExpressionRow row(*parsed, kCount);
  const auto* const results = row.evaluate({0}, 3);
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(results[2], -10);
  EXPECT_EQ(row.evaluate({0}, 4), nullptr);
}

}  // namespace
}  // namespace npu::workloads
