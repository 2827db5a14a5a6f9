// SPDX-License-Identifier: Apache-2.0
// Expressions of elementwise on the host, and what is none.
#include "workloads/programs/support/element_expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace npu::workloads {
namespace {

constexpr double kUnit = 1.0 / 2048;  // of fp16

Rounded value_of(const std::string& text, double unit = 0) {
  const auto expression = ElementExpression::parse(text);
  EXPECT_TRUE(expression) << text << ": " << expression.error().context;
  return expression ? expression->of({{3, -2, 0.5, 4}, {0.5, 2, -1, 8}, unit}) : Rounded{NAN, 0};
}

TEST(ElementExpression, HasTheOrderOfOperationsOfCpp) {
  EXPECT_EQ(value_of("a+b*c-d").value, 3 - 2 * 0.5 - 4);
  EXPECT_EQ(value_of("-(a - b) / s * s3").value, -(3.0 + 2) / 0.5 * 8);
  EXPECT_EQ(value_of("a - b - c").value, 3 + 2 - 0.5);
  EXPECT_EQ(value_of("1.5e0f * a").value, 4.5);
  EXPECT_EQ(value_of("1 / 2 * a").value, 0) << "whole numbers, as in C++";
  EXPECT_EQ(value_of("1.0 / 2 * a").value, 1.5);
}

TEST(ElementExpression, KnowsEveryFunction) {
  EXPECT_EQ(value_of("where(a < b, c, max(a, d))").value, 4);
  EXPECT_EQ(value_of("where(a != b, min(a, b), 1)").value, -2);
  EXPECT_DOUBLE_EQ(value_of("exp(b) + ln(a) + sqrt(d)").value, std::exp(-2) + std::log(3) + 2);
  EXPECT_DOUBLE_EQ(value_of("rsqrt(d) + reciprocal(c) + abs(b) + relu(b)").value, 0.5 + 2 + 2);
  EXPECT_NEAR(value_of("silu(a) - a * sigmoid(a)").value, 0, 1e-12);
  EXPECT_NEAR(value_of("gelu(a)").value, 2.9963627, 1e-6);
  EXPECT_NEAR(value_of("mish(a)").value, 3 * std::tanh(std::log1p(std::exp(3.0))), 1e-12);
}

TEST(ElementExpression, ErrorsGrowWithTheRoundings) {
  EXPECT_EQ(value_of("a + b").error, 0);
  EXPECT_DOUBLE_EQ(value_of("a + b", kUnit).error, kUnit);
  EXPECT_GT(value_of("1.0 / (a * 1.1 - 3.3)", kUnit).error, 1e6) << "nothing is left of it";
  EXPECT_GE(value_of("where(a * 1.1 < 3.3, 0, 5)", kUnit).error, 5) << "either may be right";
  EXPECT_LT(value_of("gelu(a)", kUnit).error, 60 * kUnit * 3);
}

TEST(ElementExpression, SaysWhichInputsItHas) {
  const auto expression = ElementExpression::parse("where(b > s, d, 0)");
  ASSERT_TRUE(expression);
  EXPECT_FALSE(expression->uses(0));
  EXPECT_TRUE(expression->uses(1));
  EXPECT_FALSE(expression->uses(2));
  EXPECT_TRUE(expression->uses(3));
}

TEST(ElementExpression, RefusesEverythingElse) {
  for (const std::string text :
       {"", " ", "a+", "*a", "a b", "foo(a)", "e", "exp", "exp(a", "exp(a,b)", "where(a,b,c)",
        "where(a<b,c)", "max(a)", "a&b", "(a", "a)", "1..2.", "s4", "((((((a"}) {
    const auto expression = ElementExpression::parse(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_EQ(expression.error().code, ErrorCode::kInvalidArgument);
    EXPECT_LT(expression.error().context.size(), 300U);
  }
}

}  // namespace
}  // namespace npu::workloads
