// SPDX-License-Identifier: Apache-2.0
// The vector instructions of an expression. How many registers, parts of UB, it needs follows from
// its type.
#pragma once

#include <algorithm>

#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/expression.hpp"

namespace npu::kernels::expression {

// Registers beside the inputs', the result's included, and which inputs are used.
template <class Node>
struct Needs;
template <unsigned kIndex>
struct Needs<Input<kIndex>> {
  static constexpr unsigned kRegisters = 0, kInputs = 1U << kIndex;
};
template <>
struct Needs<Shared> {
  static constexpr unsigned kRegisters = 0, kInputs = 0;
};
template <>
struct Needs<Splat> {
  static constexpr unsigned kRegisters = 1, kInputs = 0;
};
template <class A>
struct NeedsOne {
  static constexpr unsigned kRegisters = std::max(1U, Needs<A>::kRegisters);
  static constexpr unsigned kInputs = Needs<A>::kInputs;
};
template <class A, class B>
struct NeedsTwo {
  static constexpr unsigned kRegisters = std::max(
      {1U, Needs<A>::kRegisters, Needs<B>::kRegisters + (Needs<A>::kRegisters == 0 ? 0 : 1)});
  static constexpr unsigned kInputs = Needs<A>::kInputs | Needs<B>::kInputs;
};
template <VectorOp kOp, class A>
struct Needs<Unary<kOp, A>> : NeedsOne<A> {};
template <VectorOp kOp, class A>
struct Needs<WithScalar<kOp, A>> : NeedsOne<A> {};
template <VectorOp kOp, class A, class B>
struct Needs<Binary<kOp, A, B>> : NeedsTwo<A, B> {};
template <Comparison kComparison, class A, class B>
struct Needs<Condition<kComparison, A, B>> : NeedsTwo<A, B> {};
// Both values, then what is compared.
template <class C, class A, class B>
struct Needs<Choice<C, A, B>> {
  static constexpr unsigned kRegisters =
      std::max(NeedsTwo<A, B>::kRegisters, 2 + Needs<C>::kRegisters);
  static constexpr unsigned kInputs = NeedsTwo<A, B>::kInputs | Needs<C>::kInputs;
};
template <class A, class Body>
struct Needs<Let<A, Body>> {
  using Value = decltype(std::declval<Body>()(Shared{}));
  static constexpr unsigned kRegisters =
      std::max(Needs<A>::kRegisters, 1 + Needs<Value>::kRegisters);
  static constexpr unsigned kInputs = Needs<A>::kInputs | Needs<Value>::kInputs;
};

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

// `kType`: fp32, int32 or int64.
template <platform::DataType kType>
class Emitter {
 public:
  AicorePort& port;
  std::uint32_t inputs[4] = {};  // offsets in UB, of kType
  std::uint32_t registers = 0;   // the first one
  std::uint32_t register_bytes = 0;
  std::uint32_t mask = 0;
  std::uint32_t count = 0;
  bool precise = false;  // exp as libraries compute it

  // The value's place: where it is, or register `depth`; those from there on are free.
  template <class Node>
  std::uint32_t value(const Node& node, unsigned depth) {
    if constexpr (Needs<Node>::kRegisters == 0) {
      return place(node);
    } else {
      const std::uint32_t to = registers + depth * register_bytes;
      make(node, depth, to);
      return to;
    }
  }
  // The value in `to`, which is a register that is free, or none of them.
  template <class Node>
  void result(const Node& node, std::uint32_t to) {
    if constexpr (Needs<Node>::kRegisters == 0) {
      issue(vector(VectorOp::kCopy, to, place(node)));
    } else {
      make(node, 0, to);
    }
  }

 private:
  template <unsigned kIndex>
  std::uint32_t place(const Input<kIndex>&) const {
    return inputs[kIndex];
  }
  std::uint32_t place(const Shared& shared) const { return shared.at; }

  template <class A>
  static constexpr unsigned after(unsigned depth) {
    return depth + (Needs<A>::kRegisters == 0 ? 0 : 1);
  }

  void make(const Splat& splat, unsigned, std::uint32_t to) {
    Vector v = vector(VectorOp::kDuplicate, to, 0);
    v.scalar = splat.value;
    issue(v);
  }
  template <VectorOp kOp, class A>
  void make(const Unary<kOp, A>& unary, unsigned depth, std::uint32_t to) {
    check<kOp>();
    const std::uint32_t a = value(unary.a, depth);
    issue(vector(kOp == VectorOp::kExp && precise ? VectorOp::kExpPrecise : kOp, to, a));
  }
  template <VectorOp kOp, class A>
  void make(const WithScalar<kOp, A>& operation, unsigned depth, std::uint32_t to) {
    check<kOp>();
    Vector v = vector(kOp, to, value(operation.a, depth));
    v.scalar = operation.scalar;
    issue(v);
  }
  template <VectorOp kOp, class A, class B>
  void make(const Binary<kOp, A, B>& operation, unsigned depth, std::uint32_t to) {
    check<kOp>();
    const std::uint32_t a = value(operation.a, depth);
    Vector v = vector(kOp, to, a);
    v.b = value(operation.b, after<A>(depth));
    issue(v);
  }
  // One mask is enough: it is made when both values are there.
  template <Comparison kComparison, class L, class R, class A, class B>
  void make(const Choice<Condition<kComparison, L, R>, A, B>& choice, unsigned depth,
            std::uint32_t to) {
    static_assert(kType != platform::DataType::kInt64,
                  "the vector unit does not compare int64: where() of NPU_JIT_EXPRESSION");
    const std::uint32_t a = value(choice.a, depth);
    const std::uint32_t b = value(choice.b, after<A>(depth));
    const unsigned rest = after<B>(after<A>(depth));
    Vector compare = vector(VectorOp::kCompare, mask, value(choice.condition.a, rest));
    compare.b = value(choice.condition.b, after<L>(rest));
    compare.comparison = kComparison;
    issue(compare);
    Vector select = vector(VectorOp::kSelect, to, a);
    select.b = b;
    select.mask = mask;
    issue(select);
  }
  template <class A, class Body>
  void make(const Let<A, Body>& let, unsigned depth, std::uint32_t to) {
    const Shared shared{{}, value(let.a, depth)};
    const typename Needs<Let<A, Body>>::Value body = let.body(shared);
    if constexpr (Needs<typename Needs<Let<A, Body>>::Value>::kRegisters == 0) {
      issue(vector(VectorOp::kCopy, to, place(body)));
    } else {
      make(body, after<A>(depth), to);
    }
  }

  template <VectorOp kOp>
  static constexpr void check() {
    static_assert(computes(kOp, kType),
                  "NPU_JIT_EXPRESSION: the vector unit has this for half, bfloat16 and float only; "
                  "of int64 it has max and min");
  }
  Vector vector(VectorOp op, std::uint32_t to, std::uint32_t a) const {
    return row_vector(op, kType, to, a, 1, count);
  }
  void issue(const Vector& v) { port.issue(v); }
};

}  // namespace npu::kernels::expression
