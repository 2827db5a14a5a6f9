// SPDX-License-Identifier: Apache-2.0
// S = Q x K^T on cube cores, in the usual tiles.
#include "kernels/device/shipped/attention.hpp"
#include "kernels/device/shipped/gemm.hpp"

namespace npu::kernels::attention {
namespace {

int scores(aicore::AicorePort& port) {
  const auto work = Scores::from(aicore::Arguments(port, Scores::kWords));
  const gemm::Problem product{work.queries,
                              work.keys,
                              work.scores,
                              work.rows,
                              work.count,
                              work.head,
                              work.head,
                              work.head,
                              work.count,
                              work.type,
                              platform::DataType::kFp32,
                              gemm::usual_tiling(work.type)};
  if (work.head == 0 || !valid(product)) return aicore::kBadArguments;
  gemm::multiply<Layout::kColumnMajor>(port, product, [](const aicore::TilePlace&) {});
  port.pipe_barrier(platform::Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL(npu::kernels::attention::scores, npu::kernels::attention::Scores::kWords)
