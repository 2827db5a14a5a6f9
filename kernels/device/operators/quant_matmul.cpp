// SPDX-License-Identifier: Apache-2.0
// C = scale * token_scales[row] * channel_scales[column] * (A x B + bias[column]), int8 multiplied
// into int32. FixPipe scales what it can and writes C; the rest goes through int32 in the
// workspace, and vector cores make it real. NPU_JIT_ELEMENT_A, _B: int8; NPU_JIT_ELEMENT_C: half,
// bfloat16 or float; NPU_JIT_ELEMENT_BIAS: int32, or a real that is added last; NPU_JIT_LAYOUT_A,
// _B; QuantMatmulParams. Workspace: 4 B for each element of C.
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/dequantise.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"

namespace npu::kernels {
namespace {

using matmul::Phase;
using matmul::Tables;

struct QuantWork {
  matmul::Work product;
  std::uint64_t sums = 0;  // 0: FixPipe writes C
  matmul::Scales scales;
};

std::uint64_t result_of(const matmul::Work& p, std::uint64_t matrix) {
  return p.c + matrix * p.stride_c * platform::bytes_of(matmul::kTypeC);
}

// Of the cube; others come behind the scales.
matmul::Work with_cube_bias(matmul::Work p) {
  if (matmul::kRealBias) p.bias = 0;
  return p;
}

void sums(AicorePort& port, const QuantWork& work) {
  const matmul::Work p = with_cube_bias(work.product);
  const std::uint64_t each = std::uint64_t{p.m} * p.n * 4;
  matmul::for_products<Fixed<matmul::kAccumulator>, Tables::kBias>(
      port, p, p.batch, [&](std::uint64_t matrix) {
        return product_of_batch(p, matrix, work.sums + matrix * each, p.n);
      });
}

void scaled(AicorePort& port, const QuantWork& work) {
  const matmul::Work& p = work.product;
  matmul::for_products<Fixed<matmul::kTypeC>, Tables::kBiasAndScales>(
      port, p, p.batch, [&](std::uint64_t matrix) {
        auto product = product_of_batch(p, matrix, result_of(p, matrix), p.ldc);
        product.scales = work.scales.columns;
        product.scale = work.scales.all;
        return product;
      });
}

void dequantise(AicorePort& port, const QuantWork& work) {
  const matmul::Work& p = work.product;
  for (std::uint32_t i = 0; i < p.batch; ++i) {
    const std::uint64_t bias =
        p.bias == 0 ? 0 : p.bias + i * p.stride_bias * platform::bytes_of(matmul::kTypeBias);
    matmul::Dequantise(port, work.sums + i * std::uint64_t{p.m} * p.n * 4, p.m, p.n, work.scales,
                       matmul::kRealBias ? bias : 0, {result_of(p, i), p.ldc})
        .run();
  }
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<QuantWork>);
  const auto work = work_from<QuantWork>(arguments);
  const matmul::Work& p = work.product;
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kProduct:
      if (work.sums != 0) {
        sums(port, work);
      } else if constexpr (matmul::kScaledByFixpipe) {
        scaled(port, work);
      }
      break;
    case Phase::kResult:
      dequantise(port, work);
      break;
    case Phase::kZeros:
      const Zeros zeros(port, matmul::kTypeC, p.n);
      for (std::uint32_t i = 0; i < p.batch; ++i) zeros.fill({result_of(p, i), p.ldc}, p.m, p.n);
      break;
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// FixPipe multiplies with one number of each column, or of all.
bool by_fixpipe(const QuantMatmulParams& params, const matmul::CoreLimits& limits) {
  if (!matmul::kScaledByFixpipe) return false;
  if (matmul::kTypeC == DataType::kBf16 && !limits.fixpipe_bf16) return false;
  return params.token_scales == 0 && (params.channel_scales == 0 || params.scale == 1) &&
         (params.product.bias == 0 || !matmul::kRealBias);
}

void host(std::uint32_t block_num, OperatorStream& stream, const QuantMatmulParams& params) {
  const MatmulParams& p = params.product;
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
  const bool direct = by_fixpipe(params, stream.limits());
  const bool tables = p.bias != 0 || (direct && params.channel_scales != 0);
  if (!matmul::choose(stream, launches, work.product, p.batch, tables ? 2 : 0)) return;
  const std::uint64_t tiles = matmul::tiles_of(work.product) * p.batch;
  const std::uint64_t results = std::uint64_t{p.m} * p.n;
  if (!direct) {
    if (!matmul::addressable(p.batch, results)) {
      return stream.refuse("the sums are beyond all memory");
    }
    work.sums = stream.workspace(results * p.batch * 4);
    if (work.sums == 0) return;
  }
  launches.launch(CoreKind::kCube, Phase::kProduct, work, tiles);
  if (direct) return;
  launches.launch(CoreKind::kVector, Phase::kResult, work,
                  aicore::divide_up<std::uint64_t>(results, 512));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::QuantWork, npu::kernels::host,
             npu::operators::QuantMatmulParams)
