// SPDX-License-Identifier: Apache-2.0
// C = A x B for few tiles and a long k: parts of k on different cubes, whose sums vector cores add
// up. NPU_JIT_ELEMENT_A, _B, _C; NPU_JIT_LAYOUT_A, _B; SplitKMatmulParams. Workspace: 4 B for each
// element of C and part.
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/matmul/host.hpp"
#include "kernels/device/matmul/products.hpp"
#include "kernels/device/matmul/result.hpp"

namespace npu::kernels {
namespace {

using matmul::Phase;

static_assert(matmul::kBiasOfCube,
              "a bias of reals is float or half, of int8 int32: NPU_JIT_ELEMENT_BIAS is none");

struct SplitWork {
  matmul::Work product;
  std::uint64_t sums = 0;  // of each part, m x n
  std::uint32_t parts = 1;
  std::uint32_t part_k = 0;  // of each but the last part; whole L1 tiles
};

void products(AicorePort& port, const SplitWork& work) {
  const matmul::Work& p = work.product;
  const auto product_of = [&](std::uint64_t part) {
    const std::uint32_t first = static_cast<std::uint32_t>(part) * work.part_k;
    matmul::Product<matmul::OperandA, matmul::OperandB> product{
        {p.a, p.m, p.k, p.lda},
        {p.b, p.k, p.n, p.ldb},
        work.sums + std::uint64_t{p.m} * p.n * part * 4,
        p.n,
        p.m,
        p.n,
        first,
        part + 1 == work.parts ? p.k : first + work.part_k};
    if (part == 0) product.bias = p.bias;
    return product;
  };
  matmul::for_products<Fixed<matmul::kAccumulator>, matmul::Tables::kBias>(port, p, work.parts,
                                                                           product_of);
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<SplitWork>);
  const auto work = work_from<SplitWork>(arguments);
  const matmul::Work& p = work.product;
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kProduct:
      products(port, work);
      break;
    case Phase::kResult:
      matmul::Sums(port, work.sums, work.parts, p.m, p.n, {p.c, p.ldc}).run();
      break;
    case Phase::kZeros:
      Zeros(port, matmul::kTypeC, p.n).fill({p.c, p.ldc}, p.m, p.n);
      break;
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// As many parts as were asked for, or as keep cores busy; each at least an L1 tile deep, and that
// of the usual depth, so that there are parts of a k that one deep tile would hold.
void split(SplitWork& work, std::uint32_t wanted, std::uint32_t cores) {
  matmul::Work& p = work.product;
  if (matmul::kWanted.k == 0) {
    p.tiling.k = std::min(p.tiling.k, aicore::default_l1(matmul::kTypeA).k);
    p.tiling.l0_k = std::min(p.tiling.l0_k, p.tiling.k);
  }
  const std::uint32_t steps = aicore::divide_up(p.k, p.tiling.k);
  if (wanted == 0) {
    const std::uint64_t tiles = matmul::tiles_of(p);
    wanted = static_cast<std::uint32_t>(std::max<std::uint64_t>(cores / tiles, 1));
  }
  const std::uint32_t deep = aicore::divide_up(steps, std::min(wanted, steps));
  work.parts = aicore::divide_up(steps, deep);
  work.part_k = deep * p.tiling.k;
}

void host(std::uint32_t block_num, OperatorStream& stream, const SplitKMatmulParams& params) {
  const MatmulParams& p = params.product;
  if (p.batch > 1) return stream.refuse("splitk_matmul has one product: batch must be 1");
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  SplitWork work;
  if (const char* const reason = matmul::to_work(p, work.product)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (p.k == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, work, p.m);
  if (!matmul::choose(stream, launches, work.product, 1, p.bias != 0 ? 2 : 0)) return;
  split(work, params.splits, launches.cores(CoreKind::kCube));
  const std::uint64_t sums = std::uint64_t{p.m} * p.n;
  if (!matmul::addressable(work.parts, sums))
    return stream.refuse("the sums are beyond all memory");
  work.sums = stream.workspace(sums * work.parts * 4);
  if (work.sums == 0) return;
  launches.launch(CoreKind::kCube, Phase::kProduct, work,
                  matmul::tiles_of(work.product) * work.parts);
  launches.launch(CoreKind::kVector, Phase::kResult, work,
                  aicore::divide_up<std::uint64_t>(sums, 512));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::SplitWork, npu::kernels::host,
             npu::operators::SplitKMatmulParams)
