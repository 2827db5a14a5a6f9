// SPDX-License-Identifier: Apache-2.0
// NPU_JIT_EXPRESSION, a C++ expression over inputs a, b, c, d, scalars s, s1, s2, s3 and numbers.
// Operators + - * / and comparisons; exp, ln, sqrt, rsqrt, reciprocal, abs, relu, max, min,
// sigmoid, silu, gelu, mish and where(comparison, then, otherwise). Reals are computed in fp32,
// int8 in int32; scalars are floats, to integers they are rounded.
#pragma once

#include "kernels/device/vector/emit.hpp"
#include "kernels/device/vector/functions.hpp"
#include "kernels/device/vector/types.hpp"

#ifndef NPU_JIT_EXPRESSION
#define NPU_JIT_EXPRESSION 0
#error "NPU_JIT_EXPRESSION must be an expression over a, b, c, d, s, s1, s2, s3 and numbers"
#endif

namespace npu::kernels {

namespace expression {

template <VectorOp kOp, VectorOp kOpWithScalar, class A, class B>
auto extreme(const A& a, const B& b) {
  if constexpr (kIsScalar<B>) {
    return with_scalar<kOpWithScalar>(a, value_of(b));
  } else if constexpr (kIsScalar<A>) {
    return with_scalar<kOpWithScalar>(b, value_of(a));
  } else if constexpr (!is_real(vector::kTypeA)) {  // integers are all numbers
    return binary<kOp>(a, b);
  } else {
    return let(b, KeepsNan<kOp, A>{a});
  }
}
template <class A, class B, class = IfAnyNode<A, B>>
auto max(const A& a, const B& b) {
  return extreme<VectorOp::kMax, VectorOp::kMaxs>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto min(const A& a, const B& b) {
  return extreme<VectorOp::kMin, VectorOp::kMins>(a, b);
}

// As trees; the names are those that expressions use.
inline auto make(const float (&scalars)[4]) {
  [[maybe_unused]] const Input<0> a;
  [[maybe_unused]] const Input<1> b;
  [[maybe_unused]] const Input<2> c;
  [[maybe_unused]] const Input<3> d;
  [[maybe_unused]] const Scalar s = scalars[0], s1 = scalars[1], s2 = scalars[2], s3 = scalars[3];
  return node(NPU_JIT_EXPRESSION);
}

}  // namespace expression

namespace vector {

using Tree = decltype(expression::make(std::declval<const float (&)[4]>()));
constexpr expression::TreeNeeds kTreeNeeds = expression::kNeeds<Tree>;

static_assert((kTypeA == DataType::kInt64) == (kTypeC == DataType::kInt64),
              "int64 is converted to and from nothing: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

}  // namespace vector

}  // namespace npu::kernels
