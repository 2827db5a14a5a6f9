// SPDX-License-Identifier: Apache-2.0
// Functions of expressions. (max and min depend on the inputs' type: operators/elementwise.cpp.)
#pragma once

#include "kernels/device/vector/expression.hpp"

namespace npu::kernels::expression {

template <class A, class = IfNode<A>>
auto exp(const A& a) {
  return unary<VectorOp::kExp>(a);
}
// As libraries compute it in fp32, from several instructions.
template <class A, class = IfNode<A>>
auto exp_precise(const A& a) {
  return unary<VectorOp::kExpPrecise>(a);
}
template <class A, class = IfNode<A>>
auto ln(const A& a) {
  return unary<VectorOp::kLn>(a);
}
template <class A, class = IfNode<A>>
auto sqrt(const A& a) {
  return unary<VectorOp::kSqrt>(a);
}
template <class A, class = IfNode<A>>
auto rsqrt(const A& a) {
  return unary<VectorOp::kRsqrt>(a);
}
template <class A, class = IfNode<A>>
auto reciprocal(const A& a) {
  return unary<VectorOp::kReciprocal>(a);
}
template <class A, class = IfNode<A>>
auto abs(const A& a) {
  return unary<VectorOp::kAbs>(a);
}
template <class A, class = IfNode<A>>
auto relu(const A& a) {
  return unary<VectorOp::kRelu>(a);
}

// a where the condition holds, b elsewhere; neither has any effect but its value.
template <Comparison kComparison, class L, class R, class A, class B>
auto where(const Condition<kComparison, L, R>& condition, const A& a, const B& b) {
  return Choice<Condition<kComparison, L, R>, decltype(node(a)), decltype(node(b))>{
      {}, condition, node(a), node(b)};
}

// The larger or the smaller one; of which one is no number, that. The unit's own instruction keeps
// one on the left only.
template <VectorOp kOp, class A>
struct KeepsNan {
  static constexpr VectorOp kExtreme = kOp;
  A a;
  auto operator()(const Shared& right) const {
    return where(condition<Comparison::kNotEqual>(right, right), right, binary<kOp>(a, right));
  }
};

template <class A, class = IfNode<A>>
auto sigmoid(const A& a) {
  return 1 / (exp(-a) + 1);
}
// 1 - 2 / (1 + exp(2 x))
template <class A, class = IfNode<A>>
auto tanh(const A& a) {
  return -2 / (exp(a * 2) + 1) + 1;
}
// x / (1 + exp(-x))
struct SiluBody {
  auto operator()(const Shared& x) const { return x / (exp(-x) + 1); }
};
template <class A, class = IfNode<A>>
auto silu(const A& a) {
  return let(a, SiluBody{});
}
// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))): with tanh
struct GeluBody {
  auto operator()(const Shared& x) const {
    constexpr float kCubic = 0.044715F, kTwiceRoot = 1.5957691F;
    return x / (exp((x * x * x * kCubic + x) * -kTwiceRoot) + 1);
  }
};
template <class A, class = IfNode<A>>
auto gelu(const A& a) {
  return let(a, GeluBody{});
}

// Whole numbers. Adding 2^23 to a size below it rounds to the nearest even one; others are whole.
inline constexpr float kAllWhole = 8388608;
inline auto nearest(const Shared& size) {
  return where(size < kAllWhole, size + kAllWhole + -kAllWhole, size);
}
struct NearestSize {
  auto operator()(const Shared& size) const { return nearest(size); }
};
struct Signed {
  Shared x;
  auto operator()(const Shared& size) const { return where(x < 0, -size, size); }
};
// What is done with the size, and the sign.
template <class OfSize>
struct SizeBody {
  auto operator()(const Shared& x) const { return let(let(abs(x), OfSize{}), Signed{x}); }
};
// The nearest one, or the one on the other side of x.
template <Comparison kComparison>
struct Stepped {
  Shared x;
  auto operator()(const Shared& r) const {
    return where(condition<kComparison>(r, x), r + (kComparison == Comparison::kGreater ? -1 : 1),
                 r);
  }
};
template <Comparison kComparison>
struct SteppedBody {
  auto operator()(const Shared& x) const {
    return let(SizeBody<NearestSize>{}(x), Stepped<kComparison>{x});
  }
};
// Of the size: down, or up from the middle.
struct TruncSize {
  auto operator()(const Shared& size) const {
    return let(nearest(size), Stepped<Comparison::kGreater>{size});
  }
};
struct RoundedUp {
  Shared size;
  auto operator()(const Shared& r) const { return where(size - r == 0.5F, r + 1, r); }
};
struct RoundSize {
  auto operator()(const Shared& size) const { return let(nearest(size), RoundedUp{size}); }
};
// To the nearest, even ones of two; down; up; to 0; to the nearest, of two the one farther from 0.
template <class A, class = IfNode<A>>
auto rint(const A& a) {
  return let(a, SizeBody<NearestSize>{});
}
template <class A, class = IfNode<A>>
auto floor(const A& a) {
  return let(a, SteppedBody<Comparison::kGreater>{});
}
template <class A, class = IfNode<A>>
auto ceil(const A& a) {
  return let(a, SteppedBody<Comparison::kLess>{});
}
template <class A, class = IfNode<A>>
auto trunc(const A& a) {
  return let(a, SizeBody<TruncSize>{});
}
template <class A, class = IfNode<A>>
auto round(const A& a) {
  return let(a, SizeBody<RoundSize>{});
}

// x P(x^2) / Q(x^2) between -4 and 4, where it is 1 to a float: the usual rational approximation.
struct ErfQuotient {
  Shared x;
  auto operator()(const Shared& square) const {
    return ((((((square * -2.72614225801306e-10F + 2.77068142495902e-08F) * square +
                -2.10102402082508e-06F) *
                   square +
               -5.69250639462346e-05F) *
                  square +
              -7.34990630326855e-04F) *
                 square +
             -2.95459980854025e-03F) *
                square +
            -1.60960333262415e-02F) *
           x /
           ((((square * -1.45660718464996e-05F + -2.13374055278905e-04F) * square +
              -1.68282697438203e-03F) *
                 square +
             -7.37332916720468e-03F) *
                square +
            -1.42647390514189e-02F);
  }
};
struct ErfBody {
  auto operator()(const Shared& x) const { return let(x * x, ErfQuotient{x}); }
};
template <class A, class = IfNode<A>>
auto erf(const A& a) {
  return let(with_scalar<VectorOp::kMins>(with_scalar<VectorOp::kMaxs>(a, -4), 4), ErfBody{});
}

// |a|^b by exponential and logarithm; of a negative a where b is whole, with the sign of odd ones.
// Beyond 2^22 every b counts as even. Adding 1.5 * 2^23 rounds to a whole number.
template <class A>
struct PowSign {
  A a;
  auto operator()(const Shared& b) const {
    constexpr float kRounds = 12582912, kMostOdd = 4194304;
    return where(
        a < 0,
        where(abs(b) < kMostOdd,
              where(b + kRounds + -kRounds == b,
                    where(b * 0.5F + kRounds + -kRounds == b * 0.5F, 1, -1), __builtin_nanf("")),
              1),
        1);
  }
};
template <class A>
struct PowBody {
  A a;
  auto operator()(const Shared& b) const {
    return where(b == 0, 1, where(a == 1, 1, exp(ln(abs(a)) * b) * PowSign<A>{a}(b)));
  }
};
template <class A, class B, class = IfAnyNode<A, B>>
auto pow(const A& a, const B& b) {
  return let(node(b), PowBody<decltype(node(a))>{node(a)});
}

// x tanh(ln(1 + exp(x))), in two branches of which neither overflows where it is used: with q = 1 +
// 2 exp(-x), q / (q + 2 exp(-2 x)); with q = exp(2 x) + 2 exp(x), q / (q + 2). Which of the four
// exponentials libraries compute precisely is not published. Hypothesis: one of them, for with the
// clocks of exp's own rows that is what the rows of mish show (docs/accuracy/fitted.csv).
struct MishAbove {
  Shared x;
  auto operator()(const Shared& q) const { return q / (exp(x * -2) * 2 + q); }
};
struct MishBelow {
  auto operator()(const Shared& q) const { return q / (q + 2); }
};
struct MishBody {
  auto operator()(const Shared& x) const {
    return where(x >= 0, let(exp(-x) * 2 + 1, MishAbove{x}),
                 let(exp(x * 2) + exp_precise(x) * 2, MishBelow{})) *
           x;
  }
};
template <class A, class = IfNode<A>>
auto mish(const A& a) {
  return let(a, MishBody{});
}

}  // namespace npu::kernels::expression
