// SPDX-License-Identifier: Apache-2.0
// Integer expressions of graph files: numbers, names, + - * / % and comparisons, parentheses.
// Comparisons bind loosest and are 1 or 0; / and % round towards minus infinity, so that i % n is
// never negative for n > 0. All arithmetic is of 64 bits and checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace npu::workloads {

struct ExpressionError {
  std::size_t offset = 0;  // in the text, of what is wrong
  std::string problem;
};

class Expression {
 public:
  Expression() : Expression(0) {}
  explicit Expression(std::int64_t constant);

  // Value i of evaluate() is called names[i]; of equal names the last one counts.
  static tl::expected<Expression, ExpressionError> parse(std::string_view text,
                                                         const std::vector<std::string>& names);

  // `values`: at least as many as there were names. Errors: division by zero, overflow.
  tl::expected<std::int64_t, ExpressionError> evaluate(
      const std::vector<std::int64_t>& values) const;

  enum class Code : std::uint8_t {
    kNumber,
    kName,
    kNegate,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
  };
  // Of a stack machine: operands first.
  struct Step {
    Code code = Code::kNumber;
    std::int64_t value = 0;  // kNumber; kName: index
    std::size_t offset = 0;  // in the text
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  std::vector<Step> steps_;
};

}  // namespace npu::workloads
