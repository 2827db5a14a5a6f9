// SPDX-License-Identifier: Apache-2.0
// softmax(scale * Q x K^T) x V without the whole of the scores: heads in waves whose scores stay in
// the cache, keys in chunks, the softmax of what was seen so far corrected with each.
// NPU_JIT_ELEMENT_A (Q, K, V) and NPU_JIT_ELEMENT_C (result): half, bfloat16 or float;
// NPU_JIT_CAUSAL 0 or 1; AttentionParams. Two launches for each chunk of a wave and two more; the
// workspace holds the scores of one, and the output in fp32.
#include "kernels/device/attention/output.hpp"
#include "kernels/device/attention/plan.hpp"
#include "kernels/device/attention/rows.hpp"
#include "kernels/device/attention/weights.hpp"
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/zeros.hpp"

namespace npu::kernels {
namespace {

using attention::kTypeA;
using attention::kTypeC;
using attention::Phase;
using attention::Work;

class Blind {
 public:
  Blind(AicorePort& port, const Work& w) : zeros_(port, kTypeC, w.head), to_{w.to, w.head} {}
  std::uint32_t rows() const { return zeros_.rows(); }
  void run(AreaTile tile, std::uint32_t) const {
    tile.columns = static_cast<std::uint32_t>(to_.pitch);
    zeros_.fill_tile(to_, tile);
  }

 private:
  const Zeros zeros_;
  const GlobalRows to_;
};

void vectors(AicorePort& port, const Work& w) {
  if (w.round > 0) {
    const attention::Step step = w.step(w.round - 1);
    const std::uint32_t first = w.first_query(step.chunk);
    attention::for_rows(port, w, step.groups, first, w.queries,
                        attention::Output(port, w, step, true));
    if (step.chunk + 1 == w.chunks() && first > w.blind()) {
      attention::for_rows(port, w, step.groups, w.blind(), first,
                          attention::Output(port, w, step, false));
    }
    // It may still store from UB, for which MTE2 and the scalar unit do not wait.
    port.pipe_barrier(Pipe::kAll);
  }
  if (w.round < w.steps()) {
    const attention::Step step = w.step(w.round);
    attention::for_rows(port, w, step.groups, w.first_query(step.chunk), w.queries,
                        attention::Weights(port, w, step));
  }
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kCubes:
      attention::Cubes(port, work).run();
      break;
    case Phase::kVectors:
      vectors(port, work);
      break;
    case Phase::kZeros:
      attention::for_rows(port, work, work.groups, 0, work.blind(), Blind(port, work));
      break;
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// A reason if it cannot be done. Only keys may be none.
const char* check(const AttentionParams& p, const CoreLimits& limits) {
  if (p.heads % std::max(p.kv_heads, 1U) != 0 || p.kv_heads == 0) {
    return "kv_heads must divide heads";
  }
  for (const auto side : {p.queries, p.keys, p.head}) {
    if (side > kMostSide) return "queries, keys and head must be below 2^31";
  }
  if (std::uint64_t{p.heads / p.kv_heads} * p.queries > kMostSide) {
    return "queries of all heads with the same keys must be below 2^31";
  }
  const std::uint64_t heads = std::uint64_t{p.batch} * p.heads;
  const std::uint64_t longest = std::max(p.queries, p.keys);
  if (heads > kMostSide || longest > aicore::kMostElements / heads / p.head) {
    return "the tensors are beyond the address space";
  }
  if (!aligned(p.q, kTypeA) || !aligned(p.k, kTypeA) || !aligned(p.v, kTypeA) ||
      !aligned(p.to, kTypeC)) {
    return "addresses must be multiples of the elements' sizes";
  }
  if (std::uint64_t{p.head} * 4 + 32 > attention::OutputBuffers::space_in(limits.ub)) {
    return "a row of a head does not fit into UB";
  }
  return nullptr;
}

void host(std::uint32_t block_num, OperatorStream& stream, const AttentionParams& p) {
  if (p.batch == 0 || p.heads == 0 || p.queries == 0 || p.head == 0) return;
  const CoreLimits limits = stream.limits();
  if (const char* const reason = check(p, limits)) return stream.refuse(reason);
  Work w;
  w.q = p.q, w.k = p.k, w.v = p.v, w.to = p.to;
  w.groups = p.batch * p.kv_heads, w.shared = p.heads / p.kv_heads;
  w.queries = p.queries, w.keys = p.keys, w.head = p.head;
  w.scale = p.scale;
  Launches launches(stream, CoreKind::kCube, block_num);
  const std::uint64_t zeros = std::uint64_t{w.groups} * w.shared * w.blind();
  if (w.keys == 0) return launches.launch(CoreKind::kVector, Phase::kZeros, w, zeros);
  attention::choose_steps(w, limits);
  if (!attention::choose_tiles(w, launches.cores(CoreKind::kCube), limits)) {
    return stream.refuse("no tile of the products fits into the cores' buffers");
  }
  const std::uint64_t workspace = stream.workspace(attention::place(w, 0));
  if (workspace == 0) return;
  attention::place(w, workspace);
  launches.launch(CoreKind::kVector, Phase::kZeros, w, zeros);
  const std::uint64_t tiles = attention::score_tiles(w) + attention::value_tiles(w) * w.parts_of(0);
  const std::uint64_t rows = std::uint64_t{w.wave} * w.rows();
  for (w.round = 0; w.round <= w.steps(); ++w.round) {
    launches.launch(CoreKind::kCube, Phase::kCubes, w, tiles);
    launches.launch(CoreKind::kVector, Phase::kVectors, w, rows);
  }
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::attention::Work, npu::kernels::host,
             npu::operators::AttentionParams)
