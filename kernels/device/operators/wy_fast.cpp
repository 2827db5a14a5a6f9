// SPDX-License-Identifier: Apache-2.0
// w = A x (beta exp(g) k) and u = A x (beta v) of each chunk. NPU_JIT_ELEMENT_A (k, v, A) and
// NPU_JIT_ELEMENT_C, the same: half or bfloat16; TensorParams. Vector cores scale the rows of k and
// v, cubes multiply.
#include "kernels/device/chunks/products.hpp"
#include "kernels/device/chunks/scaled_rows.hpp"

namespace npu::kernels {
namespace {

enum class Phase : std::uint64_t { kScale, kProducts };
using chunks::Piece;
using chunks::Rows;
using chunks::Work;

void scale(AicorePort& port, const Work& work) {
  chunks::ScaledRows rows(port, work);
  chunks::Scaling s;
  s.factors = work.in[3], s.gates = work.in[4];
  s.from = {work.in[0], chunks::kTypeA, work.kv_heads}, s.to = {work.spare[0]};
  rows.run(s);
  s.gates = 0;
  s.from = {work.in[1], chunks::kTypeA, work.heads}, s.to = {work.spare[1]};
  rows.run(s);
}

// Those of both results.
void products(AicorePort& port, const Work& work) {
  const std::uint64_t pitch = std::uint64_t{work.heads} * work.head;
  chunks::for_pieces<Rows, Rows, chunks::kTypeC>(
      port, work.first, work.chunk, work.head, 2 * work.pieces(), [&](std::uint64_t both) {
        const std::uint64_t result = both / work.pieces(), i = both % work.pieces();
        const Piece at = chunks::piece(i, work.heads);
        return matmul::Product<Rows, Rows>{
            {chunks::rows_at(work.in[2], work, at.chunk, at.head, work.heads, work.chunk),
             work.chunk, work.chunk, std::uint64_t{work.heads} * work.chunk},
            {work.spare[result] + i * work.area() * chunks::kElement, work.chunk, work.head,
             work.head},
            chunks::rows_at(work.to[result], work, at.chunk, at.head, work.heads, work.head),
            pitch,
            work.chunk,
            work.head,
            0,
            work.chunk};
      });
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  if (static_cast<Phase>(arguments.word(0)) == Phase::kScale) {
    scale(port, work);
  } else {
    products(port, work);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (chunks::is_empty(params)) return;
  Work work;
  if (const char* const reason = chunks::to_work(params, work, 5, 2)) return stream.refuse(reason);
  Launches launches(stream, CoreKind::kCube, block_num);
  if (!chunks::choose<Rows, Rows>(stream, launches, work.first, work.pieces(), work.chunk,
                                  work.head, work.chunk)) {
    return;
  }
  const std::uint64_t each = work.pieces() * work.area() * chunks::kElement;
  work.spare[0] = stream.workspace(2 * each);
  if (work.spare[0] == 0) return;
  work.spare[1] = work.spare[0] + each;
  launches.launch(CoreKind::kVector, Phase::kScale, work, chunks::ScaledRows::parts(work));
  launches.launch(CoreKind::kCube, Phase::kProducts, work,
                  work.pieces() * chunks::tiles_of(work.first, work.chunk, work.head));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::chunks::Work, npu::kernels::host,
             npu::operators::TensorParams)
