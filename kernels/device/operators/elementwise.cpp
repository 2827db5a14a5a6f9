// SPDX-License-Identifier: Apache-2.0
// NPU_JIT_EXPRESSION, a C++ expression over inputs a, b, c, d, scalars s, s1, s2, s3 and numbers,
// for every element. NPU_JIT_ELEMENT_A (all inputs) and NPU_JIT_ELEMENT_C (result); VectorParams.
// Operators + - * / and comparisons; exp, ln, sqrt, rsqrt, reciprocal, abs, relu, max, min,
// sigmoid, silu, gelu, mish and where(comparison, then, otherwise). Reals are computed in fp32,
// int8 in int32; scalars are floats, to integers they are rounded.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/element_tiles.hpp"
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

namespace {

using vector::kComputed;
using vector::kTypeA;
using vector::kTypeC;

using Tree = decltype(expression::make(std::declval<const float (&)[4]>()));
constexpr expression::TreeNeeds kTreeNeeds = expression::kNeeds<Tree>;

static_assert((kTypeA == DataType::kInt64) == (kTypeC == DataType::kInt64),
              "int64 is converted to and from nothing: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

struct Formula {
  Fixed<kTypeA> type;
  Fixed<kComputed> computed;
  Fixed<kTypeC> result;
  Tree tree;
  bool precise = kTypeC == DataType::kFp32;

  static constexpr bool apart() { return false; }
  static constexpr expression::TreeNeeds needs() { return kTreeNeeds; }
  template <class Use>
  auto visit(Use use) const {
    return use(tree);
  }
};

int kernel(AicorePort& port) {
  const auto work = work_from<VectorParams>(aicore::Arguments(port, kWorkWords<VectorParams>));
  const Formula formula{{}, {}, {}, expression::make(work.scalars)};
  vector::run_elements(port, formula, work.inputs, work.to, work.count);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const VectorParams& params) {
  if (params.count == 0) return;
  if (params.count > aicore::kMostElements) return stream.refuse("count must be below 2^44");
  bool good = aligned(params.to, kTypeC);
  for (const auto input : params.inputs) good = good && aligned(input, kTypeA);
  for (unsigned input = 0; input < 4; ++input) {
    if ((kTreeNeeds.inputs >> input & 1) != 0 && params.inputs[input] == 0) {
      return stream.refuse("the expression names an input that was not given");
    }
  }
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  if (8 * stream.limits().ub <
      vector::kGrain * vector::element_bits(kTypeA, kComputed, kTypeC, kTreeNeeds)) {
    return stream.refuse("UB is too small for an expression with so many values at a time");
  }
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, params,
              aicore::divide_up<std::uint64_t>(params.count * platform::bytes_of(kTypeA),
                                               vector::kBlockGrain));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::operators::VectorParams, npu::kernels::host,
             npu::operators::VectorParams)
