// SPDX-License-Identifier: Apache-2.0
// Sums of the tokens of a chunk up to each of them, for each head. NPU_JIT_ELEMENT_A and
// NPU_JIT_ELEMENT_C: float; TensorParams. A core works on a chunk at a time.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

static_assert(vector::kTypeA == DataType::kFp32 && vector::kTypeC == DataType::kFp32,
              "sums of gates are float: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

struct Work {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t from = 0, to = 0;
  std::uint32_t tokens = 0, heads = 0, chunk = 0, reserved = 0;
};

constexpr std::uint32_t kGrain = 8;  // heads: whole blocks of UB

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  const std::uint32_t pitch = aicore::round_up(work.heads, kGrain);
  {
    const Turns turns(port);
    for (std::uint64_t first = std::uint64_t{port.call().block} * work.chunk; first < work.tokens;
         first += std::uint64_t{port.call().blocks} * work.chunk) {
      const auto tokens =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work.chunk, work.tokens - first));
      const vector::RowTile tile{first, tokens, work.heads, pitch};
      turns.begin();
      vector::load_tile(port, 0, {work.from, work.heads, 0}, tile, DataType::kFp32);
      turns.loaded();
      const vector::Flat row(port, pitch);
      for (std::uint32_t at = pitch * 4; at < tokens * pitch * 4; at += pitch * 4) {
        row.issue(VectorOp::kAdd, at, at, at - pitch * 4);
      }
      turns.computed();
      vector::store_tile(port, {work.to, work.heads, 0}, tile, 0, DataType::kFp32);
      turns.stored();
    }
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // tokens, heads, chunk
  if (side[0] == 0 || side[1] == 0) return;
  if (side[0] > kMostSide || side[1] > kMostSide || side[2] > kMostSide) {
    return stream.refuse("sides must be below 2^31");
  }
  if (side[2] == 0) return stream.refuse("a chunk must have tokens");
  Work work;
  work.from = params.inputs[0], work.to = params.results[0];
  work.tokens = static_cast<std::uint32_t>(side[0]),
  work.heads = static_cast<std::uint32_t>(side[1]);
  work.chunk = static_cast<std::uint32_t>(std::min(side[2], side[0]));
  if (!aligned(work.from, DataType::kFp32) || !aligned(work.to, DataType::kFp32)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if ((side[1] + kGrain) * work.chunk * 4 > stream.limits().ub) {
    return stream.refuse("a chunk does not fit into UB");
  }
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, work, aicore::divide_up(work.tokens, work.chunk));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
