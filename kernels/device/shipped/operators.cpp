// SPDX-License-Identifier: Apache-2.0
// Operators of several instructions. Reals are computed in fp32, in tensors of fp16 and bf16
// between casts; a maximum in the tensors' type but for bf16, in which only registers compute.
#include "kernels/device/shipped/operators.hpp"

#include "kernels/device/shipped/set_up.hpp"
#include "kernels/device/vector/element_tiles.hpp"
#include "kernels/device/vector/functions.hpp"
#include "kernels/device/vector/scalar_tensor.hpp"

namespace npu::kernels::vector {
namespace {

constexpr unsigned kExpNumbers = 3;  // base, scale and shift are tensors

struct Operation {
  DataType type, computed, result;
  Operator op;
  float scale;
  // What fp16 and bf16 hold of the result, the unit's own instruction gives.
  bool precise;

  // Functions of the 950's library in which casts are functions of their own (950.md N32).
  bool apart() const {
    return op == Operator::kGelu || op == Operator::kMish || op == Operator::kExp;
  }

  template <class Use>
  auto visit(Use use) const {
    using namespace expression;
    const Input<0> a;
    const Input<1> b;
    switch (op) {
      case Operator::kSigmoid:
        return use(sigmoid(a));
      case Operator::kGelu:
        return use(gelu(a));
      case Operator::kMish:
        return use(mish(a));
      case Operator::kExp:
        return use(exp(a * scale));
      case Operator::kMaximum:
        break;
    }
    if (type != computed) return use(let(b, KeepsNan<VectorOp::kMax, Input<0>>{a}));
    return use(binary<VectorOp::kMax>(a, b));
  }
  expression::TreeNeeds needs() const {
    return visit([](const auto& tree) { return expression::kNeeds<std::decay_t<decltype(tree)>>; });
  }
};

// `registers` have a maximum of bf16, of which a NaN wins.
Operation operation_of(const OperatorWork& work, bool registers) {
  const bool as_is = work.op == Operator::kMaximum && (registers || work.type != DataType::kBf16);
  return {work.type,  as_is ? work.type : DataType::kFp32,
          work.type,  work.op,
          work.scale, work.op == Operator::kExp && work.type == DataType::kFp32};
}

int operators(AicorePort& port) {
  const OperatorWork work =
      operator_from(aicore::Arguments(port, kOperatorWords).words<kOperatorWords>());
  if (!valid(work)) return aicore::kBadArguments;
  set_up(port, {work.tiling, false, false}, work.structure);
  if (work.op == Operator::kExp) prepare_numbers(port, kExpNumbers);
  run_elements(port, operation_of(work, port.has_vector_functions()), {work.a, work.b, 0, 0},
               work.to, work.count);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::vector

NPU_KERNEL(npu::kernels::vector::operators, npu::kernels::vector::kOperatorWords)
