// SPDX-License-Identifier: Apache-2.0
// A tensor through UB to another place, by vector cores; source or destination may be memory of
// another card. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C, the same; TensorParams.
#include "kernels/device/vector/in_place.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

static_assert(vector::kTypeA == vector::kTypeC,
              "a copy converts nothing: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be the same");

constexpr std::uint32_t kGrain = 512;  // bytes: a line of the L2

int kernel(AicorePort& port) {
  const auto work =
      work_from<vector::FlatWork>(aicore::Arguments(port, kWorkWords<vector::FlatWork>));
  const auto nothing = [](std::uint32_t, std::uint32_t) {};
  vector::InPlace<false, const decltype(nothing)>(port, work, vector::kTypeA, nothing).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (params.sides[0] == 0) return;
  if (params.sides[0] > aicore::kMostElements) return stream.refuse("count must be below 2^44");
  if (!aligned(params.inputs[0], vector::kTypeA) || !aligned(params.results[0], vector::kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < kSets * kGrain) return stream.refuse("UB is smaller than 1 KiB");
  Launches launches(stream, CoreKind::kVector, block_num);
  vector::FlatWork work;
  work.from = params.inputs[0], work.to = params.results[0], work.count = params.sides[0];
  work.grain = kGrain / vector::size_of(vector::kTypeA);
  work.grains = aicore::divide_up<std::uint64_t>(work.count, work.grain);
  if (params.sets != 0) work.sets = std::min(params.sets, kSets);
  const auto cores = launches.cores(CoreKind::kVector);
  work.tile = vector::grains_of_tile(params.tile, kGrain, work.grains / cores + 1, kSets,
                                     stream.limits().ub);
  launches.launch(CoreKind::kVector, 0U, work, work.grains);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::vector::FlatWork, npu::kernels::host,
             npu::operators::TensorParams)
