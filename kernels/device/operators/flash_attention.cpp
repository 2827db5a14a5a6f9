// SPDX-License-Identifier: Apache-2.0
// softmax(scale * Q x K^T) x V in one mixed launch: a cube core and its vector cores work on a task
// together. If there are few tasks of few queries, their keys are divided, and vector cores add the
// parts up. Scores and weights between them are in the L2, or go from buffer to buffer.
// NPU_JIT_ELEMENT_A (Q, K, V) and NPU_JIT_ELEMENT_C (result): half, bfloat16 or float;
// NPU_JIT_CAUSAL 0 or 1; NPU_JIT_MASK 1: a number for each key is added to its scores;
// AttentionParams.
#include "kernels/device/attention/local_vector.hpp"
#include "kernels/device/attention/plan.hpp"
#include "kernels/device/attention/vector.hpp"
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/zeros.hpp"

namespace npu::kernels {
namespace {

using attention::kTypeA;
using attention::kTypeC;
using attention::Phase;
using attention::Step;
using attention::Work;

// A coupled core hands each step to itself.
class Coupled {
 public:
  Coupled(AicorePort& port, const Work& w) : cube_(port, w), vector_(port, w, 0) {}
  void begin(const Step& step) {
    cube_.begin(step);
    vector_.begin(step);
  }
  void end(const Step& step) {
    cube_.end(step);
    vector_.end(step);
  }

 private:
  attention::Cube cube_;
  attention::VectorCore vector_;
};

template <class Side>
void steps(const platform::KernelCall& call, const Work& w, Side&& side) {
  w.for_steps(call.block, call.blocks, side);
}

void tasks(AicorePort& port, const Work& w) {
  const auto& call = port.call();
  switch (port.core_type()) {
    case abi::CoreType::kCoupled:
      return steps(call, w, Coupled(port, w));
    case abi::CoreType::kAic:
      return steps(call, w, attention::Cube(port, w));
    default:
      if (w.local != 0) return steps(call, w, attention::LocalVector(port, w, call.role));
      return steps(call, w, attention::VectorCore(port, w, call.role));
  }
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  const auto phase = static_cast<Phase>(arguments.word(0));
  if (phase == Phase::kSplits) {
    attention::Combine(port, work).run();
  } else if (phase == Phase::kZeros) {
    Zeros(port, kTypeC, work.head)
        .fill({work.to, work.head}, std::uint64_t{work.batch} * work.heads * work.queries,
              work.head);
  } else {
    tasks(port, work);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// A reason if it cannot be done. Only keys may be none.
const char* check(const AttentionParams& p, const CoreLimits& limits) {
  if (p.kv_heads == 0 || p.heads % p.kv_heads != 0) return "kv_heads must divide heads";
  for (const auto side : {p.queries, p.keys, p.head}) {
    if (side > kMostSide) return "queries, keys and head must be below 2^31";
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
#if NPU_JIT_MASK
  if (!aligned(p.mask, kTypeA)) return "the mask's address must be a multiple of its elements";
#endif
  if (p.table != 0 && (p.table % 4 != 0 || std::uint64_t{p.page} * p.pages < p.keys)) {
    return "a table has numbers of 4 bytes, of pages for all keys";
  }
  if (p.head > attention::longest_head(limits)) {
    return "a row of a head does not fit into L0B or UB";
  }
  return nullptr;
}

void host(std::uint32_t block_num, OperatorStream& stream, const AttentionParams& p) {
  if (p.batch == 0 || p.heads == 0 || p.queries == 0 || p.head == 0) return;
  const CoreLimits limits = stream.limits();
  if (const char* const reason = check(p, limits)) return stream.refuse(reason);
  Work w;
  w.q = p.q, w.k = p.k, w.v = p.v, w.to = p.to;
  w.batch = p.batch, w.heads = p.heads, w.kv_heads = p.kv_heads;
  w.queries = p.queries, w.keys = p.keys, w.head = p.head;
  w.scale = p.scale;
#if NPU_JIT_MASK
  w.mask = p.mask, w.mask_pitch = p.mask_pitch;
#endif
  w.table = p.table, w.page = p.page, w.pages = p.pages;
  const auto pitches = [&](std::uint64_t heads, std::uint64_t rows) {
    const std::uint64_t all = heads * rows * p.head;
    return p.heads_inside != 0 ? attention::Pitches{all, p.head, heads * p.head}
                               : attention::Pitches{all, rows * p.head, p.head};
  };
  w.query_pitch = pitches(p.heads, p.queries);
  w.key_pitch = pitches(p.kv_heads, p.table == 0 ? p.keys : p.page);
  Launches launches(stream, CoreKind::kMixed, block_num);
  if (w.keys == 0) {
    return launches.launch(CoreKind::kVector, Phase::kZeros, w,
                           std::uint64_t{p.batch} * p.heads * p.queries);
  }
  const bool coupled = launches.cores(CoreKind::kVector) == launches.cores(CoreKind::kCube);
  w.local = limits.local_ways && !coupled ? 1 : 0;
  w.skips = attention::kCausal && p.whole_mask == 0 ? 1 : 0;
  attention::choose_rows(w, limits);
  if (!attention::choose_keys(w, limits, coupled)) {
    return stream.refuse("no tile of the products fits into the cores' buffers");
  }
  attention::choose_splits(w, limits, launches.cores(CoreKind::kMixed));
  if (w.skips != 0 && w.grouped == 0 && w.local == 0) w.wave = launches.cores(CoreKind::kMixed);
  const auto blocks = std::min<std::uint64_t>(w.tasks(), launches.cores(CoreKind::kMixed));
  const std::uint64_t workspace = stream.workspace(attention::place(w, 0, blocks));
  if (workspace == 0) return;
  attention::place(w, workspace, blocks);
  launches.launch(CoreKind::kMixed, Phase::kTasks, w, w.tasks());
  if (w.splits == 1) return;
  launches.launch(CoreKind::kVector, Phase::kSplits, w, attention::Combine::tiles(w, limits.ub));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::attention::Work, npu::kernels::host,
             npu::operators::AttentionParams)
