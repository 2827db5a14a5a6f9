// SPDX-License-Identifier: Apache-2.0
// The operations of Expression on two numbers.
#pragma once

#include <cstdint>

#include "workloads/task_graph/expression.hpp"

namespace npu::workloads {

// b is not 0; true: the quotient overflows.
inline bool floor_divide(std::int64_t a, std::int64_t b, std::int64_t& quotient,
                         std::int64_t& rest) {
  if (b == -1) {  // the one quotient that may overflow
    rest = 0;
    return __builtin_sub_overflow(std::int64_t{0}, a, &quotient);
  }
  quotient = a / b;
  rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    --quotient;
    rest += b;
  }
  return false;
}

// True: it overflows. A divisor is not 0.
inline bool compute(Expression::Code code, std::int64_t a, std::int64_t b, std::int64_t& result) {
  using Code = Expression::Code;
  std::int64_t other = 0;
  switch (code) {
    case Code::kAdd:
      return __builtin_add_overflow(a, b, &result);
    case Code::kSub:
      return __builtin_sub_overflow(a, b, &result);
    case Code::kMul:
      return __builtin_mul_overflow(a, b, &result);
    case Code::kDiv:
      return floor_divide(a, b, result, other);
    case Code::kMod:
      return floor_divide(a, b, other, result) && b != -1;
    case Code::kEqual:
      result = a == b ? 1 : 0;
      return false;
    case Code::kNotEqual:
      result = a != b ? 1 : 0;
      return false;
    case Code::kLess:
      result = a < b ? 1 : 0;
      return false;
    case Code::kLessEqual:
      result = a <= b ? 1 : 0;
      return false;
    case Code::kGreater:
      result = a > b ? 1 : 0;
      return false;
    case Code::kGreaterEqual:
      result = a >= b ? 1 : 0;
      return false;
    default:
      return false;
  }
}

}  // namespace npu::workloads
