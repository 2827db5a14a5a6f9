// SPDX-License-Identifier: Apache-2.0
// C[i] = A[i] x B[i]. NPU_JIT_ELEMENT_A, _B, _C; NPU_JIT_LAYOUT_A, _B; MatmulParams with batch and
// strides.
#include "kernels/device/matmul/direct.hpp"

NPU_OPERATOR(npu::kernels::matmul::direct_kernel, npu::kernels::matmul::DirectWork,
             npu::kernels::matmul::run_direct, npu::operators::MatmulParams)
