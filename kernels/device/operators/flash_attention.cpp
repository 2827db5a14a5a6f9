// SPDX-License-Identifier: Apache-2.0
// softmax(scale * Q x K^T) x V without the whole of the scores: keys in chunks, the softmax of what
// was seen so far corrected with each. NPU_JIT_ELEMENT_A (Q, K, V) and NPU_JIT_ELEMENT_C (result):
// half, bfloat16 or float; NPU_JIT_CAUSAL 0 or 1; AttentionParams. Two launches for each chunk and
// two more; the workspace holds one chunk's scores, and the output in fp32.
#include "kernels/device/attention/cubes.hpp"
#include "kernels/device/attention/output.hpp"
#include "kernels/device/attention/weights.hpp"
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/zeros.hpp"

namespace npu::kernels {
namespace {

using attention::kTypeA;
using attention::kTypeC;
using attention::Phase;
using attention::Work;

// A block's part of queries [first, end) of all heads.
template <class Part>
void for_queries(AicorePort& port, const Work& w, std::uint32_t first, std::uint32_t end,
                 Part&& part) {
  const std::uint32_t blocks = port.call().blocks;
  const std::uint64_t all = std::uint64_t{end - first} * w.heads;
  const auto share = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(aicore::divide_up<std::uint64_t>(all, blocks), kMostSide));
  const std::uint32_t rows = std::min({part.rows(), share, end - first});
  const std::uint64_t tiles = aicore::divide_up(end - first, rows);
  for (std::uint64_t i = port.call().block; i < tiles * w.heads; i += blocks) {
    const auto query = static_cast<std::uint32_t>(first + i % tiles * rows);
    const AreaTile tile{i / tiles * w.queries + query, 0, std::min(rows, end - query), 0};
    part.run(tile, query);
  }
}

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
    const std::uint32_t chunk = w.round - 1, first = w.first_query(chunk);
    for_queries(port, w, first, w.queries, attention::Output(port, w, chunk, true));
    if (w.round == w.chunks() && first > w.blind()) {
      for_queries(port, w, w.blind(), first, attention::Output(port, w, chunk, false));
    }
  }
  if (w.round < w.chunks()) {
    for_queries(port, w, w.first_query(w.round), w.queries, attention::Weights(port, w, w.round));
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
      for_queries(port, work, 0, work.blind(), Blind(port, work));
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
  const std::uint64_t heads = std::uint64_t{p.batch} * p.heads;
  const std::uint64_t longest = std::max(p.queries, p.keys);
  if (heads > kMostSide || longest > aicore::kMostElements / heads / p.head) {
    return "the tensors are beyond the address space";
  }
  if (!aligned(p.q, kTypeA) || !aligned(p.k, kTypeA) || !aligned(p.v, kTypeA) ||
      !aligned(p.to, kTypeC)) {
    return "addresses must be multiples of the elements' sizes";
  }
  if (std::uint64_t{p.head} * 4 + 32 > attention::Buffers::space_in(limits.ub)) {
    return "a row of a head does not fit into UB";
  }
  return nullptr;
}

// As long as UB takes a row of, while the scores of all heads stay in half of the cache.
std::uint32_t chunk_of(const Work& w, const CoreLimits& limits) {
  constexpr std::uint32_t kLeast = 64, kMost = 1024;
  const std::uint64_t rows = std::uint64_t{w.heads} * w.queries;
  std::uint32_t chunk = kMost;
  const auto bytes = 4 + platform::bytes_of(kTypeA);
  while (chunk > kLeast && rows * chunk * bytes > limits.l2 / 2) chunk /= 2;
  while (chunk > 32 && chunk * 4 > attention::Buffers::space_in(limits.ub) / 2) chunk /= 2;
  return std::min(chunk, aicore::round_up(w.keys, 32U));
}

// Bytes of the workspace, which begins at `at`.
std::uint64_t place(Work& w, std::uint64_t at) {
  const std::uint64_t begin = at;
  const std::uint64_t rows = std::uint64_t{w.heads} * w.queries;
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t place = at;
    at += aicore::round_up<std::uint64_t>(bytes, 512);
    return place;
  };
  w.scores = take(rows * w.chunk * 4);
  w.weights = take(rows * w.chunk * platform::bytes_of(kTypeA));
  w.values = take(rows * w.head * 4);
  if (w.chunks() > 1) w.output = take(rows * w.head * 4);
  for (auto* const numbers : {&w.largest, &w.sums, &w.factors[0], &w.factors[1]}) {
    *numbers = take(rows * 4);
  }
  return at - begin;
}

void host(std::uint32_t block_num, OperatorStream& stream, const AttentionParams& p) {
  if (p.batch == 0 || p.heads == 0 || p.queries == 0 || p.head == 0) return;
  const CoreLimits limits = stream.limits();
  if (const char* const reason = check(p, limits)) return stream.refuse(reason);
  Work w;
  w.q = p.q, w.k = p.k, w.v = p.v, w.to = p.to;
  w.heads = p.batch * p.heads, w.shared = p.heads / p.kv_heads;
  w.queries = p.queries, w.keys = p.keys, w.head = p.head;
  w.scale = p.scale;
  Launches launches(stream, CoreKind::kCube, block_num);
  const std::uint64_t rows = std::uint64_t{w.heads} * w.queries;
  launches.launch(CoreKind::kVector, Phase::kZeros, w, std::uint64_t{w.heads} * w.blind());
  if (w.keys == 0) return;
  w.chunk = chunk_of(w, limits);
  const std::uint32_t cubes = launches.cores(CoreKind::kCube);
  if (!matmul::choose_tiling<attention::Rows, attention::Columns>(
          w.score_tiling, kTypeA, w.heads, w.queries, w.chunk, w.head, cubes, limits) ||
      !matmul::choose_tiling<attention::Rows, attention::Rows>(
          w.value_tiling, kTypeA, w.heads, w.queries, w.head, w.chunk, cubes, limits)) {
    return stream.refuse("no tile of the products fits into the cores' buffers");
  }
  const std::uint64_t workspace = stream.workspace(place(w, 0));
  if (workspace == 0) return;
  place(w, workspace);
  const std::uint64_t tiles =
      std::uint64_t{w.heads} * aicore::divide_up(w.queries, w.score_tiling.m) *
      (aicore::divide_up(w.chunk, w.score_tiling.n) + aicore::divide_up(w.head, w.value_tiling.n));
  for (w.round = 0; w.round <= w.chunks(); ++w.round) {
    launches.launch(CoreKind::kCube, Phase::kCubes, w, tiles);
    launches.launch(CoreKind::kVector, Phase::kVectors, w, rows);
  }
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::attention::Work, npu::kernels::host,
             npu::operators::AttentionParams)
