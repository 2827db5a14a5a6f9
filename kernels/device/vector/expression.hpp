// SPDX-License-Identifier: Apache-2.0
// Expressions over inputs and scalars as trees of types, from which the vector instructions are
// made at compile time (emit.hpp). a, b, c, d are inputs; s, s1, s2, s3 and literals scalars.
#pragma once

#include <type_traits>
#include <utility>

#include "npu/platform/aicore_port.hpp"

namespace npu::kernels::expression {

using platform::Comparison;
using platform::VectorOp;

struct NodeTag {};
template <class T>
inline constexpr bool kIsNode = std::is_base_of_v<NodeTag, T>;

template <unsigned kIndex>
struct Input : NodeTag {};
// A value that is in a register already.
struct Shared : NodeTag {
  std::uint32_t at = 0;
};
struct Splat : NodeTag {
  float value = 0;
};
template <VectorOp kOp, class A>
struct Unary : NodeTag {
  A a;
};
template <VectorOp kOp, class A>
struct WithScalar : NodeTag {
  A a;
  float scalar = 0;
};
template <VectorOp kOp, class A, class B>
struct Binary : NodeTag {
  A a;
  B b;
};
template <Comparison kComparison, class A, class B>
struct Condition {
  A a;
  B b;
};
template <class Condition, class A, class B>
struct Choice : NodeTag {
  Condition condition;
  A a;
  B b;
};
// body(value) with `value` computed once; Body takes a Shared.
template <class A, class Body>
struct Let : NodeTag {
  A a;
  Body body;
};

// A number that is known when the kernel runs.
struct Scalar {
  float value = 0;
  constexpr Scalar(float number) : value(number) {}  // NOLINT: literals are scalars
};
template <class T>
inline constexpr bool kIsScalar = std::is_arithmetic_v<T> || std::is_same_v<T, Scalar>;
template <class T>
float value_of(const T& scalar) {
  if constexpr (std::is_same_v<T, Scalar>) {
    return scalar.value;
  } else {
    return static_cast<float>(scalar);
  }
}

template <class T>
auto node(const T& operand) {
  if constexpr (kIsNode<T>) {
    return operand;
  } else {
    static_assert(kIsScalar<T>, "an operand of NPU_JIT_EXPRESSION is no input, scalar or number");
    return Splat{{}, value_of(operand)};
  }
}

template <class A, class B>
using IfAnyNode =
    std::enable_if_t<(kIsNode<A> && (kIsNode<B> || kIsScalar<B>)) || (kIsScalar<A> && kIsNode<B>)>;
template <class A, class B>
using IfScalars = std::enable_if_t<(std::is_same_v<A, Scalar> && kIsScalar<B>) ||
                                   (std::is_arithmetic_v<A> && std::is_same_v<B, Scalar>)>;
template <class A>
using IfNode = std::enable_if_t<kIsNode<A>>;

// `kScalars`: the operation with a scalar on the right.
template <VectorOp kOp, class A, class B>
auto binary(const A& a, const B& b) {
  return Binary<kOp, decltype(node(a)), decltype(node(b))>{{}, node(a), node(b)};
}
template <VectorOp kOp, class A>
auto with_scalar(const A& a, float scalar) {
  return WithScalar<kOp, A>{{}, a, scalar};
}
template <VectorOp kOp, class A>
auto unary(const A& a) {
  return Unary<kOp, A>{{}, a};
}
template <class A, class Body>
auto let(const A& a, Body body) {
  return Let<A, Body>{{}, a, body};
}

template <class A, class B, class = IfAnyNode<A, B>>
auto operator+(const A& a, const B& b) {
  if constexpr (kIsScalar<B>) {
    return with_scalar<VectorOp::kAdds>(a, value_of(b));
  } else if constexpr (kIsScalar<A>) {
    return with_scalar<VectorOp::kAdds>(b, value_of(a));
  } else {
    return binary<VectorOp::kAdd>(a, b);
  }
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator*(const A& a, const B& b) {
  if constexpr (kIsScalar<B>) {
    return with_scalar<VectorOp::kMuls>(a, value_of(b));
  } else if constexpr (kIsScalar<A>) {
    return with_scalar<VectorOp::kMuls>(b, value_of(a));
  } else {
    return binary<VectorOp::kMul>(a, b);
  }
}
template <class A, class = IfNode<A>>
auto operator-(const A& a) {
  return with_scalar<VectorOp::kMuls>(a, -1);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator-(const A& a, const B& b) {
  if constexpr (kIsScalar<B>) {
    return with_scalar<VectorOp::kAdds>(a, -value_of(b));
  } else {
    return binary<VectorOp::kSub>(a, b);
  }
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator/(const A& a, const B& b) {
  return binary<VectorOp::kDiv>(a, b);
}

template <class A, class B, class = IfScalars<A, B>>
Scalar operator+(const A& a, const B& b) {
  return value_of(a) + value_of(b);
}
template <class A, class B, class = IfScalars<A, B>>
Scalar operator-(const A& a, const B& b) {
  return value_of(a) - value_of(b);
}
template <class A, class B, class = IfScalars<A, B>>
Scalar operator*(const A& a, const B& b) {
  return value_of(a) * value_of(b);
}
template <class A, class B, class = IfScalars<A, B>>
Scalar operator/(const A& a, const B& b) {
  return value_of(a) / value_of(b);
}
inline Scalar operator-(const Scalar& a) {
  return -a.value;
}

template <Comparison kComparison, class A, class B>
auto condition(const A& a, const B& b) {
  return Condition<kComparison, decltype(node(a)), decltype(node(b))>{node(a), node(b)};
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator<(const A& a, const B& b) {
  return condition<Comparison::kLess>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator<=(const A& a, const B& b) {
  return condition<Comparison::kLessEqual>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator>(const A& a, const B& b) {
  return condition<Comparison::kGreater>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator>=(const A& a, const B& b) {
  return condition<Comparison::kGreaterEqual>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator==(const A& a, const B& b) {
  return condition<Comparison::kEqual>(a, b);
}
template <class A, class B, class = IfAnyNode<A, B>>
auto operator!=(const A& a, const B& b) {
  return condition<Comparison::kNotEqual>(a, b);
}

}  // namespace npu::kernels::expression
