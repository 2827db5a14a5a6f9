// SPDX-License-Identifier: Apache-2.0
// The expression of vector/formula.hpp for every element. NPU_JIT_ELEMENT_A (all inputs) and
// NPU_JIT_ELEMENT_C (result); VectorParams.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/element_tiles.hpp"
#include "kernels/device/vector/formula.hpp"

namespace npu::kernels {
namespace {

using vector::kComputed;
using vector::kTreeNeeds;
using vector::kTypeA;
using vector::kTypeC;
using vector::Tree;

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
