// SPDX-License-Identifier: Apache-2.0
// beta[i] * (k[i] . k[j]) * exp(g[i] - g[j]) for the tokens j before i of a chunk, 0 for the
// others. NPU_JIT_ELEMENT_A (k) and NPU_JIT_ELEMENT_C, the same: half or bfloat16; TensorParams.
// Cubes make the products, which heads of one kv head share, vector cores the rest.
#include "kernels/device/chunks/decay.hpp"
#include "kernels/device/chunks/products.hpp"

namespace npu::kernels {
namespace {

enum class Phase : std::uint64_t { kProducts, kDecay };
using chunks::Work;

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  if (static_cast<Phase>(arguments.word(0)) == Phase::kProducts) {
    chunks::token_products(port, work, work.first, work.in[0], work.in[0], work.spare[0]);
  } else {
    const chunks::DecayOf what{work.spare[0], work.in[1], work.to[0], false, false};
    chunks::Decay(port, work, what, work.in[2]).run();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (chunks::is_empty(params)) return;
  Work work;
  if (const char* const reason = chunks::to_work(params, work, 3, 1)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (!chunks::choose<chunks::Rows, chunks::Columns>(stream, launches, work.first, work.groups(),
                                                     work.chunk, work.chunk, work.head)) {
    return;
  }
  work.spare[0] = stream.workspace(work.groups() * work.square() * 4);
  if (work.spare[0] == 0) return;
  launches.launch(CoreKind::kCube, Phase::kProducts, work,
                  work.groups() * chunks::tiles_of(work.first, work.chunk, work.chunk));
  launches.launch(CoreKind::kVector, Phase::kDecay, work, chunks::Decay::parts(work));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::chunks::Work, npu::kernels::host,
             npu::operators::TensorParams)
