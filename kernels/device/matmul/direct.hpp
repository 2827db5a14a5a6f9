// SPDX-License-Identifier: Apache-2.0
// Products that FixPipe writes to C itself: one, or those of a batch. Block i of n computes tiles
// i, i + n, ... of all of them.
#pragma once

#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"

namespace npu::kernels::matmul {

static_assert(kConvertedByFixpipe,
              "a product of int8 is int32, float or half: NPU_JIT_ELEMENT_C is none");
static_assert(kBiasOfCube,
              "a bias of reals is float or half, of int8 int32: NPU_JIT_ELEMENT_BIAS is none");

inline void products(AicorePort& port, const Work& work) {
  for_products<Fixed<kTypeC>, Tables::kBias>(port, work, work.batch, [&](std::uint64_t matrix) {
    return product_of_batch(work, matrix,
                            work.c + matrix * work.stride_c * platform::bytes_of(kTypeC), work.ldc);
  });
}

inline void zeros(AicorePort& port, const Work& work) {
  const Zeros zeros(port, kTypeC, work.n);
  for (std::uint32_t matrix = 0; matrix < work.batch; ++matrix) {
    const std::uint64_t at = work.c + matrix * work.stride_c * platform::bytes_of(kTypeC);
    zeros.fill({at, work.ldc}, work.m, work.n);
  }
}

inline int direct_kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  if (arguments.word(0) == static_cast<std::uint64_t>(Phase::kZeros)) {
    zeros(port, work);
  } else {
    products(port, work);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

inline void run_direct(std::uint32_t block_num, OperatorStream& stream,
                       const MatmulParams& params) {
  if (params.m == 0 || params.n == 0 || params.batch == 0) return;
  Work work;
  if (const char* const reason = to_work(params, work)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (work.k == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, work, work.m);
  if (!choose(stream, launches, work, work.batch, params.bias != 0 ? 2 : 0)) return;
  launches.launch(CoreKind::kCube, Phase::kProduct, work, tiles_of(work) * work.batch);
}

}  // namespace npu::kernels::matmul
