// SPDX-License-Identifier: Apache-2.0
// Expressions of the operator elementwise (docs/writing-an-operator.md) by plain arithmetic on the
// host: a to d, s to s3, numbers, + - * /, functions, where(x < y, ...).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::workloads {

// A result and how far one may be from it whose operations round.
struct Rounded {
  double value = 0, error = 0;
};

// Of one element.
struct ElementInputs {
  std::array<double, 4> inputs{};   // a, b, c, d
  std::array<double, 4> scalars{};  // s, s1, s2, s3
  double unit = 0;                  // relative error of a rounding
};

class ElementExpression {
 public:
  // kInvalidArgument: what is no such expression, and where.
  static Result<ElementExpression> parse(const std::string& text);

  Rounded of(const ElementInputs& element) const;
  // Whether input 0 .. 3 stands in it.
  bool uses(std::size_t input) const { return uses_[input]; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
  std::array<bool, 4> uses_{};
};

}  // namespace npu::workloads
