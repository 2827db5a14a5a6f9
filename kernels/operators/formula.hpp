// SPDX-License-Identifier: Apache-2.0
// The expression of elementwise and its like (docs/writing-an-operator.md), read before a compiler
// sees it: what is none is refused here, in words that are not the compiler's.
#pragma once

#include <array>
#include <string>

#include "kernels/operators/call.hpp"

namespace npu::operators {

// What stands in an expression.
struct Formula {
  std::array<bool, 4> inputs{};   // a to d
  std::array<bool, 4> scalars{};  // s, s1, s2, s3
  // Which types can compute it: without arithmetic there is int64, without functions of reals all
  // other integers.
  bool has_arithmetic = false;  // anything but inputs, min and max of two
  bool needs_reals = false;     // a quotient, an exponential, a root and so on
};

// kInvalidArgument: "expression: ...", what is no expression, and where.
Result<Formula> read_formula(const std::string& text);

// kInvalidArgument: the inputs' type cannot compute it, and which types can. `name`: what the
// caller calls it.
Status check_formula_type(const Formula& formula, DataType type, const std::string& name);

// Of a call with an expression, and of one whose row has one; any other is good. `given`: scalars
// that the caller has. kInvalidArgument; kNotFound: no such operator.
Status check_formula(const OperatorCall& call, std::size_t given, const std::string& name);

}  // namespace npu::operators
