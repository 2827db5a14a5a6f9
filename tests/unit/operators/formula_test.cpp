// SPDX-License-Identifier: Apache-2.0
// Expressions of elementwise: what is none is refused before a compiler sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "kernels/operators/formula.hpp"
#include "kernels/operators/launcher/host_entry.hpp"
#include "tests/support/folders.hpp"

namespace npu::operators {
namespace {

using testing::HasSubstr;

std::string formula_error(const std::string& text) {
  const auto formula = read_formula(text);
  return formula ? "" : formula.error().context;
}

TEST(Formula, TakesWhatThePageSays) {
  for (const auto* const text :
       {"a", "a + b", "a*b+c*s-d", "max(a,b)/(abs(c)+s1)", "where(a<b,exp(a),ln(abs(b)+1))",
        "sqrt(abs(a))*rsqrt(b*b+1)+reciprocal(c*c+2)", "min(silu(a),relu(b))-sigmoid(4*a)",
        "where(a!=0,where(b!=0,1,0),0)", "s+s1*2", "max(a*b+c,-3)-abs(d)", "-a", "+3 - a",
        "a * 0.5F + 1e-3 - .25 + 2.f", "pow(a, 2)", "erf(a)+mish(b)+gelu(c)+tanh(d)",
        "rint(a)+floor(a)+ceil(a)+trunc(a)+round(a)", "where(a >= s, a, 0)", "-(-a)"}) {
    EXPECT_EQ(formula_error(text), "") << text;
  }
}

// What `pattern` finds in a source, its first group.
std::set<std::string> found_in(const std::string& file, const char* pattern) {
  std::ifstream stream(source_dir() + "/" + file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::regex each(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), each), end; at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

TEST(Formula, KnowsTheFunctionsThatTheKernelsHave) {
  const char* const definition = "\nauto (\\w+)\\(const A& a(?:, const B& b)?\\) ";
  auto defined = found_in("kernels/device/vector/functions.hpp", definition);
  defined.merge(found_in("kernels/device/vector/formula.hpp", definition));
  for (const auto* const own : {"exp_precise", "extreme"}) EXPECT_EQ(defined.erase(own), 1U);
  EXPECT_EQ(found_in("kernels/operators/formula.cpp", "\\{\"(\\w+)\", \\d, (?:true|false)\\}"),
            defined);
}

TEST(Formula, SaysWhatIsNone) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"a * ", "expression: 'a * ' ends too early"},
      {"", "'' ends too early"},
      {"(a", "'(a' ends too early"},
      {"a); system(\"id\"", "found ';' in"},
      {"a); float q = (1", "found ';' in"},
      {"a) + (b", "found ') + (b'; wanted is its end"},
      {"a {", "found '{'"},
      {"a # b", "found '#'"},
      {"a \\ b", "found '\\'"},
      {"'a'", "found ''' in"},
      {"a\n+ b", "found ' ' in 'a + b'"},
      {"a, b", "found ', b'; wanted is its end"},
      {"a = b", "found '= b'; wanted is its end"},
      {"a < b", "found '< b'; wanted is its end"},
      {"system(1)", "wanted is a to d, s to s3"},
      {"e", "no function e"},
      {"sqr(a)", "no function sqr; did you mean sqrt?"},
      {"exp(a, b)", "found ', b)'; wanted is ')'"},
      {"max(a)", "found ')'; wanted is ','"},
      {"exp(2)", "exp of numbers alone"},
      {"max(s, 1)", "max of numbers alone"},
      {"where(a, b, c)", "wanted is a comparison"},
      {"where(1 < 2, a, b)", "where compares numbers alone"},
      {"+a", "'+' before what is no number"},
      {"3x", "found '3x'; wanted is a number"},
      {"0x10", "wanted is a number"},
      {"1e", "wanted is a number"},
      {"1..2", "wanted is a number"},
      {"a b", "found 'b'; wanted is its end"},
      {std::string(300, '(') + "a" + std::string(300, ')'), "too deep"},
      {std::string(300, '-') + "a", "too deep"}};
  for (const auto& [text, told] : cases) {
    EXPECT_THAT(formula_error(text), HasSubstr(told)) << text;
    EXPECT_THAT(formula_error(text), testing::StartsWith("expression: "));
    EXPECT_THAT(formula_error(text), testing::Not(HasSubstr("\n")));
  }
}

TEST(Formula, KnowsWhatStandsInIt) {
  const auto formula = read_formula("where(a < s1, c, 1)").value();
  EXPECT_EQ(formula.inputs, (std::array<bool, 4>{true, false, true, false}));
  EXPECT_EQ(formula.scalars, (std::array<bool, 4>{false, true, false, false}));
}

TEST(Formula, SaysWhichTypesCanComputeIt) {
  const auto told = [](const char* text, DataType type) {
    const auto good = check_formula_type(read_formula(text).value(), type, "it");
    return good ? "" : good.error().context;
  };
  EXPECT_EQ(told("a + b", DataType::kInt64),
            "int64: it is not possible; allowed: float16, bfloat16, float32, int8, int32");
  EXPECT_EQ(told("a / b", DataType::kInt32),
            "int32: it is not possible; allowed: float16, bfloat16, float32");
  EXPECT_EQ(told("min(max(a, b), c)", DataType::kInt64), "");
  EXPECT_NE(told("max(a, s)", DataType::kInt64), "");
  EXPECT_EQ(told("a * s / 2 + b", DataType::kFp16), "");
  EXPECT_EQ(told("a * (s / 2)", DataType::kInt8), "");
  EXPECT_EQ(told("where(a < b, a, b)", DataType::kInt32), "");
}

TEST(Formula, ACallIsRefusedThatLacksAScalar) {
  OperatorCall call;
  call.name = "elementwise", call.shape = {4}, call.expression = "a * s + s2";
  EXPECT_TRUE(check_formula(call, 3, "elementwise"));
  EXPECT_EQ(check_formula(call, 2, "elementwise").error().context,
            "expression: it names a scalar that was not given: s2");
  call.expression = "a); system(\"id\"";
  EXPECT_THAT(normalise(call).error().context, HasSubstr("elementwise: expression: found ';'"));
}

TEST(HostEntry, WhatIsThrownIsAnError) {
  EXPECT_TRUE(without_exceptions("it", [] {}));
  EXPECT_EQ(without_exceptions("it", [] { throw 1; }).error().context, "it has thrown int");
  EXPECT_EQ(without_exceptions("it", [] { throw std::runtime_error("x\ny"); }).error().context,
            "it has thrown std::runtime_error: x y");
  EXPECT_EQ(reason_of(nullptr), "the operator refuses, and does not say why");
}

}  // namespace
}  // namespace npu::operators
