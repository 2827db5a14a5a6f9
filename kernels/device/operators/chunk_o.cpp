// SPDX-License-Identifier: Apache-2.0
// scale * (exp(g[i]) (q[i] x S) + sum over j up to i of (q[i] . k[j]) exp(g[i] - g[j]) v[j]) of
// each chunk; S is the state at its begin, head x head. NPU_JIT_ELEMENT_A (q, k, v, S) and
// NPU_JIT_ELEMENT_C, the same: half or bfloat16; TensorParams.
#include "kernels/device/chunks/decay.hpp"
#include "kernels/device/chunks/products.hpp"
#include "kernels/device/chunks/scaled_rows.hpp"

namespace npu::kernels {
namespace {

enum class Phase : std::uint64_t { kScores, kWeights, kValues, kOutput };
using chunks::Piece;
using chunks::Rows;
using chunks::Work;

// Of two of each piece: the chunk's rows times a matrix, chunk x head in fp32, dense at `to`.
template <class Left, class Right>
void outputs(AicorePort& port, const Work& work, std::uint32_t depth, std::uint64_t to, Left left,
             Right right) {
  chunks::for_pieces<Rows, Rows, DataType::kFp32>(
      port, work.second, work.chunk, work.head, work.pieces(), [&](std::uint64_t i) {
        const Piece at = chunks::piece(i, work.heads);
        return matmul::Product<Rows, Rows>{left(i, at), right(i, at), to + i * work.area() * 4,
                                           work.head,   work.chunk,   work.head,
                                           0,           depth};
      });
}

void scores(AicorePort& port, const Work& work) {
  chunks::token_products(port, work, work.first, work.in[0], work.in[1], work.spare[0]);
  port.pipe_barrier(Pipe::kAll);  // the next products have the same flags
  outputs(
      port, work, work.head, work.spare[2],
      [&](std::uint64_t, const Piece& at) {
        return Rows(chunks::rows_at(work.in[0], work, at.chunk, at.head / work.shared(),
                                    work.kv_heads, work.head),
                    work.chunk, work.head, std::uint64_t{work.kv_heads} * work.head);
      },
      [&](std::uint64_t i, const Piece&) {
        return Rows(work.in[3] + i * work.head * work.head * chunks::kElement, work.head, work.head,
                    work.head);
      });
}

void values(AicorePort& port, const Work& work) {
  outputs(
      port, work, work.chunk, work.spare[3],
      [&](std::uint64_t i, const Piece&) {
        return Rows(work.spare[1] + i * work.square() * chunks::kElement, work.chunk, work.chunk,
                    work.chunk);
      },
      [&](std::uint64_t, const Piece& at) {
        return Rows(chunks::rows_at(work.in[2], work, at.chunk, at.head, work.heads, work.head),
                    work.chunk, work.head, std::uint64_t{work.heads} * work.head);
      });
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  switch (static_cast<Phase>(arguments.word(0))) {
    case Phase::kScores:
      scores(port, work);
      break;
    case Phase::kWeights:
      chunks::Decay(port, work, {work.spare[0], 0, work.spare[1], true, true}, work.in[4]).run();
      break;
    case Phase::kValues:
      values(port, work);
      break;
    case Phase::kOutput: {
      chunks::Scaling s;
      s.from = {work.spare[2], DataType::kFp32, 0}, s.more = {work.spare[3], DataType::kFp32, 0};
      s.to = {work.to[0], chunks::kTypeC, work.heads};
      s.gates = work.in[4], s.scale = work.scale;
      chunks::ScaledRows(port, work).run(s);
      break;
    }
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (chunks::is_empty(params)) return;
  Work work;
  if (const char* const reason = chunks::to_work(params, work, 5, 1)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (!chunks::choose<Rows, chunks::Columns>(stream, launches, work.first, work.groups(),
                                             work.chunk, work.chunk, work.head) ||
      !chunks::choose<Rows, Rows>(stream, launches, work.second, work.pieces(), work.chunk,
                                  work.head, std::max(work.head, work.chunk))) {
    return;
  }
  const std::uint64_t raw = work.groups() * work.square() * 4;
  const std::uint64_t weights = work.pieces() * work.square() * chunks::kElement;
  const std::uint64_t output = work.pieces() * work.area() * 4;
  work.spare[0] = stream.workspace(raw + weights + 2 * output);
  if (work.spare[0] == 0) return;
  work.spare[1] = work.spare[0] + raw;
  work.spare[2] = work.spare[1] + weights;
  work.spare[3] = work.spare[2] + output;
  const std::uint64_t tiles = work.pieces() * chunks::tiles_of(work.second, work.chunk, work.head);
  launches.launch(CoreKind::kCube, Phase::kScores, work, tiles);
  launches.launch(CoreKind::kVector, Phase::kWeights, work, chunks::Decay::parts(work));
  launches.launch(CoreKind::kCube, Phase::kValues, work, tiles);
  launches.launch(CoreKind::kVector, Phase::kOutput, work, chunks::ScaledRows::parts(work));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::chunks::Work, npu::kernels::host,
             npu::operators::TensorParams)
