// SPDX-License-Identifier: Apache-2.0
// C = scale * token_scales[row] * channel_scales[column] * (A x B): int8 is multiplied into int32
// in the workspace, vector cores make it real. NPU_JIT_ELEMENT_A, _B: int8; NPU_JIT_ELEMENT_C:
// half, bfloat16 or float; NPU_JIT_LAYOUT_A, _B; QuantMatmulParams. Workspace: 4 B for each element
// of C.
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/dequantise.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"

namespace npu::kernels {
namespace {

using matmul::Phase;

struct QuantWork {
  matmul::Work product;
  std::uint64_t sums = 0;
  matmul::Scales scales;
};

void products(AicorePort& port, const QuantWork& work) {
  const matmul::Work& p = work.product;
  matmul::for_products<Fixed<matmul::kAccumulator>>(port, p, 1, [&](std::uint64_t) {
    return matmul::Product<matmul::OperandA, matmul::OperandB>{
        {p.a, p.m, p.k, p.lda}, {p.b, p.k, p.n, p.ldb}, work.sums, p.n, p.m, p.n, 0, p.k};
  });
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<QuantWork>);
  const auto work = work_from<QuantWork>(arguments);
  const matmul::Work& p = work.product;
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kProduct:
      products(port, work);
      break;
    case Phase::kResult:
      matmul::Dequantise(port, work.sums, p.m, p.n, work.scales, {p.c, p.ldc}).run();
      break;
    case Phase::kZeros:
      Zeros(port, matmul::kTypeC, p.n).fill({p.c, p.ldc}, p.m, p.n);
      break;
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const QuantMatmulParams& params) {
  const MatmulParams& p = params.product;
  if (p.batch > 1) return stream.refuse("quant_matmul has one product: batch must be 1");
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  QuantWork work;
  work.scales = {params.channel_scales, params.token_scales, params.scale, 0};
  if (const char* const reason = matmul::to_work(p, work.product)) return stream.refuse(reason);
  if (!aligned(params.channel_scales, DataType::kFp32) ||
      !aligned(params.token_scales, DataType::kFp32)) {
    return stream.refuse("addresses of scales must be multiples of 4");
  }
  Launches launches(stream, CoreKind::kCube, block_num);
  if (p.k == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, work, p.m);
  if (!matmul::choose(stream, launches, work.product, 1)) return;
  work.sums = stream.workspace(std::uint64_t{p.m} * p.n * 4);
  if (work.sums == 0) return;
  launches.launch(CoreKind::kCube, Phase::kProduct, work, matmul::tiles_of(work.product));
  launches.launch(CoreKind::kVector, Phase::kResult, work,
                  aicore::divide_up<std::uint64_t>(std::uint64_t{p.m} * p.n, 512));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::QuantWork, npu::kernels::host,
             npu::operators::QuantMatmulParams)
