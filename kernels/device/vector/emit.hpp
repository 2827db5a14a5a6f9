// SPDX-License-Identifier: Apache-2.0
// The vector instructions of an expression. How many registers it needs follows from its type:
// parts of UB, or the unit's own in a vector function. Constants are made once, with the first
// tile.
#pragma once

#include <algorithm>

#include "kernels/device/common/operand.hpp"
#include "kernels/device/common/rows.hpp"
#include "kernels/device/vector/expression.hpp"

namespace npu::kernels::expression {

// What a tree needs of UB beside its inputs, and which of them it uses.
struct TreeNeeds {
  unsigned registers = 0;  // the result's included
  unsigned constants = 0;
  unsigned inputs = 0;  // a bit each
  bool mask = false;
};
// `b` is made when `a` is there.
constexpr TreeNeeds both(const TreeNeeds& a, const TreeNeeds& b) {
  return {std::max(a.registers, b.registers + (a.registers == 0 ? 0 : 1)),
          a.constants + b.constants, a.inputs | b.inputs, a.mask || b.mask};
}
constexpr TreeNeeds with_result(TreeNeeds needs, bool mask = false) {
  needs.registers = std::max(needs.registers, 1U);
  needs.mask = needs.mask || mask;
  return needs;
}

template <class Node>
inline constexpr TreeNeeds kNeeds{};  // Shared: nothing
template <unsigned kIndex>
inline constexpr TreeNeeds kNeeds<Input<kIndex>>{0, 0, 1U << kIndex, false};
template <>
inline constexpr TreeNeeds kNeeds<Splat>{0, 1, 0, false};
template <VectorOp kOp, class A>
inline constexpr TreeNeeds kNeeds<Unary<kOp, A>> = with_result(kNeeds<A>);
template <VectorOp kOp, class A>
inline constexpr TreeNeeds kNeeds<WithScalar<kOp, A>> = with_result(kNeeds<A>);
template <VectorOp kOp, class A, class B>
inline constexpr TreeNeeds kNeeds<Binary<kOp, A, B>> = with_result(both(kNeeds<A>, kNeeds<B>));
template <Comparison kComparison, class A, class B>
inline constexpr TreeNeeds kNeeds<Condition<kComparison, A, B>> = both(kNeeds<A>, kNeeds<B>);
template <Comparison kComparison, class A>
inline constexpr TreeNeeds kNeeds<Condition<kComparison, A, Splat>> = kNeeds<A>;
// Both values, then what is compared.
template <class C, class A, class B>
inline constexpr TreeNeeds kNeeds<Choice<C, A, B>> =
    with_result(both(kNeeds<A>, both(kNeeds<B>, kNeeds<C>)), true);
template <class A, class Body>
inline constexpr TreeNeeds kNeeds<Let<A, Body>> =
    with_result(both(kNeeds<A>, kNeeds<decltype(std::declval<Body>()(Shared{}))>));

// Instructions of a tree at most.
template <class Node>
inline constexpr unsigned kSteps = 0;  // Input, Shared
template <>
inline constexpr unsigned kSteps<Splat> = 1;
template <VectorOp kOp, class A>
inline constexpr unsigned kSteps<Unary<kOp, A>> = kSteps<A> + 1;
template <VectorOp kOp, class A>
inline constexpr unsigned kSteps<WithScalar<kOp, A>> = kSteps<A> + 1;
template <VectorOp kOp, class A, class B>
inline constexpr unsigned kSteps<Binary<kOp, A, B>> = kSteps<A> + kSteps<B> + 1;
template <Comparison kComparison, class A, class B>
inline constexpr unsigned kSteps<Condition<kComparison, A, B>> = kSteps<A> + kSteps<B> + 1;
template <class C, class A, class B>
inline constexpr unsigned kSteps<Choice<C, A, B>> = kSteps<A> + kSteps<B> + kSteps<C> + 1;
template <class A, class Body>
inline constexpr unsigned kSteps<Let<A, Body>> =
    kSteps<A> + kSteps<decltype(std::declval<Body>()(Shared{}))> + 1;

template <class Node>
inline constexpr bool kIsScaled = false;
template <class A>
inline constexpr bool kIsScaled<WithScalar<VectorOp::kMuls, A>> = true;

// A body of which one operation in registers is all: KeepsNan (functions.hpp).
template <class Body, class = void>
inline constexpr bool kIsExtreme = false;
template <class Body>
inline constexpr bool kIsExtreme<Body, std::void_t<decltype(Body::kExtreme)>> = true;

// The unit has no such instruction for these types.
constexpr bool computes(VectorOp op, platform::DataType type) {
  using platform::DataType;
  switch (op) {
    case VectorOp::kDiv:
    case VectorOp::kExp:
    case VectorOp::kLn:
    case VectorOp::kSqrt:
    case VectorOp::kRsqrt:
    case VectorOp::kReciprocal:
      return type == DataType::kFp32;
    case VectorOp::kMax:
    case VectorOp::kMin:
      return true;
    default:
      return type != DataType::kInt64;
  }
}

// Instructions on parts of UB.
template <class Type>
struct Instructions {
  static constexpr bool kInRegisters = false;
  AicorePort& port;
  Type type;
  std::uint32_t count = 0;

  // Each instruction is code of its own.
  [[gnu::always_inline]] void issue(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b,
                                    float scalar, Comparison comparison, std::uint32_t mask) const {
    Vector v;
    v.op = op;
    v.type = v.to_type = type;
    v.comparison = comparison;
    v.to = to;
    v.a = a;
    v.b = b;
    v.count = count;
    v.scalar = scalar;
    v.mask = mask;
    port.issue(v);
  }
};

// `Type`: Fixed<fp32, int32 or int64>, or a DataType that the unit has all of the tree for. `Sink`:
// where its instructions go.
template <class Type, class Sink = Instructions<Type>>
class Emitter {
 public:
  Sink sink;
  Type type;
  bool precise = false;                                // exp as libraries compute it
  std::uint32_t inputs[4] = {};                        // offsets in UB, of Type
  std::uint32_t first = 0, others = 0, constants = 0;  // registers; those behind the first one
  std::uint32_t register_bytes = 0;
  std::uint32_t mask = 0;
  bool makes_constants = true;  // they stay; no later tile is larger
  unsigned next_constant = 0;

  // The value's place: where it is, or register `depth`; those from there on are free.
  template <class Node>
  std::uint32_t value(const Node& node, unsigned depth = 0) {
    if constexpr (kNeeds<Node>.registers == 0) {
      return place(node);
    } else {
      const std::uint32_t to = depth == 0 ? first : others + (depth - 1) * register_bytes;
      make(node, depth, to);
      return to;
    }
  }

 private:
  template <unsigned kIndex>
  std::uint32_t place(const Input<kIndex>&) const {
    return inputs[kIndex];
  }
  std::uint32_t place(const Shared& shared) const { return shared.at; }
  std::uint32_t place(const Splat& splat) {
    const std::uint32_t at = constants + next_constant++ * register_bytes;
    if (makes_constants) issue(VectorOp::kDuplicate, at, 0, 0, splat.value);
    return at;
  }

  // A product and a sum are one operation in registers.
  static constexpr bool kScales =
      Sink::kInRegisters && !std::is_same_v<Type, Fixed<platform::DataType::kInt32>>;

  template <class A>
  static constexpr unsigned after(unsigned depth) {
    return depth + (kNeeds<A>.registers == 0 ? 0 : 1);
  }

  template <VectorOp kOp, class A>
  void make(const Unary<kOp, A>& unary, unsigned depth, std::uint32_t to) {
    check<kOp>();
    const std::uint32_t a = value(unary.a, depth);
    issue(kOp == VectorOp::kExp && precise ? VectorOp::kExpPrecise : kOp, to, a);
  }
  template <VectorOp kOp, class A>
  void make(const WithScalar<kOp, A>& operation, unsigned depth, std::uint32_t to) {
    check<kOp>();
    issue(kOp, to, value(operation.a, depth), 0, operation.scalar);
  }
  template <VectorOp kOp, class A, class B>
  void make(const Binary<kOp, A, B>& operation, unsigned depth, std::uint32_t to) {
    check<kOp>();
    if constexpr (kScales && kOp == VectorOp::kAdd && kIsScaled<A>) {
      const std::uint32_t a = value(operation.a.a, depth);
      const std::uint32_t b =
          value(operation.b, after<std::decay_t<decltype(operation.a.a)>>(depth));
      issue(VectorOp::kAxpy, to, a, b, operation.a.scalar);
    } else if constexpr (kScales && kOp == VectorOp::kAdd && kIsScaled<B>) {
      const std::uint32_t a = value(operation.a, depth);
      const std::uint32_t b = value(operation.b.a, after<A>(depth));
      issue(VectorOp::kAxpy, to, b, a, operation.b.scalar);
    } else {
      const std::uint32_t a = value(operation.a, depth);
      issue(kOp, to, a, value(operation.b, after<A>(depth)));
    }
  }
  // One mask is enough: it is made when both values are there.
  template <Comparison kComparison, class L, class R, class A, class B>
  void make(const Choice<Condition<kComparison, L, R>, A, B>& choice, unsigned depth,
            std::uint32_t to) {
    static_assert(!std::is_same_v<Type, Fixed<platform::DataType::kInt64>>,
                  "the vector unit does not compare int64: where() of NPU_JIT_EXPRESSION");
    const std::uint32_t a = value(choice.a, depth);
    const std::uint32_t b = value(choice.b, after<A>(depth));
    const unsigned rest = after<B>(after<A>(depth));
    const std::uint32_t left = value(choice.condition.a, rest);
    if constexpr (std::is_same_v<R, Splat>) {
      issue(VectorOp::kCompares, mask, left, 0, choice.condition.b.value, kComparison);
    } else {
      const std::uint32_t right = value(choice.condition.b, after<L>(rest));
      issue(VectorOp::kCompare, mask, left, right, 0, kComparison);
    }
    issue(VectorOp::kSelect, to, a, b);
  }
  template <class A, class Body>
  void make(const Let<A, Body>& let, unsigned depth, std::uint32_t to) {
    const Shared shared{{}, value(let.a, depth)};
    if constexpr (Sink::kInRegisters && kIsExtreme<Body>) {
      return issue(Body::kExtreme, to, value(let.body.a, after<A>(depth)), shared.at);
    }
    const auto body = let.body(shared);
    if constexpr (kNeeds<std::decay_t<decltype(body)>>.registers == 0) {
      issue(VectorOp::kCopy, to, place(body));
    } else {
      make(body, after<A>(depth), to);
    }
  }

  template <VectorOp kOp>
  static constexpr void check() {
    if constexpr (!std::is_same_v<Type, platform::DataType>) {
      static_assert(computes(kOp, Type{}),
                    "NPU_JIT_EXPRESSION: the vector unit has this for half, bfloat16 and float "
                    "only; of int64 it has max and min");
    }
  }
  // Each instruction is code of its own.
  [[gnu::always_inline]] void issue(VectorOp op, std::uint32_t to, std::uint32_t a,
                                    std::uint32_t b = 0, float scalar = 0,
                                    Comparison comparison = Comparison::kLess) {
    sink.issue(op, to, a, b, scalar, comparison, mask);
  }
};

}  // namespace npu::kernels::expression
