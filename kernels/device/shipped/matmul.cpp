// SPDX-License-Identifier: Apache-2.0
// C = A x B.
#include "kernels/device/shipped/gemm.hpp"

namespace npu::kernels::gemm {
namespace {

int matmul(aicore::AicorePort& port) {
  const Problem p = from_words(aicore::Arguments(port, kWords).words<kWords>());
  if (!valid(p)) return aicore::kBadArguments;
  multiply<Layout::kRowMajor>(port, p, [](const aicore::TilePlace&) {});
  port.pipe_barrier(platform::Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels::gemm

NPU_KERNEL(npu::kernels::gemm::matmul, npu::kernels::gemm::kWords)
