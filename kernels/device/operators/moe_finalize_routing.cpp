// SPDX-License-Identifier: Apache-2.0
// Rows that experts have made, back in the order of the tokens: each token's ones, times their
// weights, added up, and `more` beside them if it is given. NPU_JIT_ELEMENT_A (rows) and
// NPU_JIT_ELEMENT_C (result and what is more): half, bfloat16 or float; TensorParams. The scalar
// unit reads weights and places.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/numbers.hpp"
#include "kernels/device/vector/types.hpp"
#include "kernels/device/vector/weighted_sum.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr std::uint32_t kNumber = 4;

struct Work {
  std::uint64_t rows = 0, weights = 0, places = 0, more = 0, to = 0;  // more: 0: none
  std::uint32_t tokens = 0, columns = 0, k = 0;
  std::uint32_t wide = 0;  // columns of a tile
};

// False: a place is beyond the rows.
bool run(AicorePort& port, const Work& work) {
  const std::uint64_t pitch = work.columns;
  vector::WeightedSum sum(
      port, {{work.rows, pitch}, {work.more, pitch}, {work.to, pitch}, kTypeA, kTypeC}, work.wide);
  Numbers places(port), weights(port);
  bool good = true;
  const auto one = [&](const AreaTile& tile) {
    sum.begin(tile);
    for (std::uint32_t i = 0; i < work.k; ++i) {
      const std::uint64_t choice = (tile.row * work.k + i) * kNumber;
      const auto row = static_cast<std::int32_t>(places.read(work.places + choice));
      const float weight = weights.read_float(work.weights + choice);
      if (row < 0) continue;
      good = good && static_cast<std::uint32_t>(row) < work.tokens * work.k;
      if (!good) return;
      sum.add(tile, static_cast<std::uint32_t>(row), weight);
    }
    sum.end(tile);
  };
  for_area(port.call(), work.tokens, work.columns, {0, 0, 1, work.wide}, [&](const AreaTile& tile) {
    if (good) one(tile);
  });
  return good;
}

int kernel(AicorePort& port) {
  const bool good = run(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>)));
  port.pipe_barrier(Pipe::kAll);
  return good ? 0 : aicore::kBadArguments;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // tokens, columns, k
  if (side[0] == 0 || side[1] == 0) return;
  if (side[0] > kMostSide || side[1] > kMostSide || side[2] > kMostSide ||
      side[0] * side[2] > kMostSide) {
    return stream.refuse("columns and all choices must be below 2^31");
  }
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.inputs[1], DataType::kFp32) ||
      !aligned(params.inputs[2], DataType::kInt32) || !aligned(params.inputs[3], kTypeC) ||
      !aligned(params.results[0], kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 32 * 1024) return stream.refuse("UB is smaller than 32 KiB");
  Work work;
  work.rows = params.inputs[0], work.weights = params.inputs[1], work.places = params.inputs[2];
  work.more = params.inputs[3], work.to = params.results[0];
  work.tokens = static_cast<std::uint32_t>(side[0]);
  work.columns = static_cast<std::uint32_t>(side[1]), work.k = static_cast<std::uint32_t>(side[2]);
  Launches launches(stream, CoreKind::kVector, block_num);
  work.wide = vector::columns_of_sums(stream.limits().ub,
                                      vector::WeightedSum::bytes_of_element(kTypeA, kTypeC),
                                      launches.cores(CoreKind::kVector), work.tokens, work.columns);
  launches.launch(CoreKind::kVector, 0U, work,
                  work.tokens * aicore::divide_up<std::uint64_t>(work.columns, work.wide));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
