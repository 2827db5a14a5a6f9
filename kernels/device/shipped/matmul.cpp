// SPDX-License-Identifier: Apache-2.0
// The kernel: block i of n computes tiles i, i + n, i + 2 n, ... of C.
#include "kernels/device/shipped/matmul.hpp"
#include "kernels/device/shipped/block_mmad.hpp"
#include "npu/aicore/block_scheduler.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels::gemm {
namespace {

int matmul(AicorePort& port) {
  const aicore::Arguments arguments(port, kWords);
  Words words{};
  for (unsigned i = 0; i < kWords; ++i) words.word[i] = arguments.word(i);
  const Problem p = from_words(words);
  if (!valid(p)) return aicore::kBadArguments;
  const aicore::BlockScheduler scheduler(aicore::divide_up(p.m, p.l1.m),
                                         aicore::divide_up(p.n, p.l1.n), p.swizzle_offset,
                                         p.swizzle_direction);
  {
    BlockMmad block(port, p);
    for (std::uint64_t i = port.call().block; i < scheduler.tiles(); i += port.call().blocks) {
      const aicore::TilePlace place = scheduler.place(i);
      block.run(place.row, place.column);
    }
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::gemm

NPU_KERNEL(npu::kernels::gemm::matmul, npu::kernels::gemm::kWords)
