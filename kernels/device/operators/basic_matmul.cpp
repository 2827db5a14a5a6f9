// SPDX-License-Identifier: Apache-2.0
// C = A x B. NPU_JIT_ELEMENT_A, _B, _C; NPU_JIT_LAYOUT_A, _B; MatmulParams.
#include "kernels/device/matmul/direct.hpp"

namespace npu::kernels {
namespace {

void host(std::uint32_t block_num, OperatorStream& stream, const MatmulParams& params) {
  if (params.batch > 1) return stream.refuse("basic_matmul has one product: batch must be 1");
  matmul::run_direct(block_num, stream, params);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::matmul::direct_kernel, npu::kernels::matmul::DirectWork,
             npu::kernels::host, npu::operators::MatmulParams)
