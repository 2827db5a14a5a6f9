// SPDX-License-Identifier: Apache-2.0
// Operators on rows of reals, each by itself: what their kernels are told, and the host's entry.
#pragma once

#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels::vector {

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");

struct RowsWork {
  std::uint64_t from = 0, to = 0, gamma = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;  // elements
  std::uint32_t rows = 0, columns = 0;
  float epsilon = 0;
  std::uint32_t reserved = 0;
};

constexpr bool row_pitch(std::uint64_t& pitch, std::uint64_t rows, std::uint64_t columns) {
  if (pitch == 0) pitch = columns;
  return pitch >= columns && pitch <= aicore::kMostElements / rows;
}

// A reason if it cannot be done. Not empty.
inline const char* check(RowsWork& work) {
  if (work.rows > kMostSide || work.columns > kMostSide)
    return "rows and columns must be below 2^31";
  if (!row_pitch(work.from_pitch, work.rows, work.columns)) {
    return "from_pitch must be 0, or at least a row and within the address space";
  }
  if (!row_pitch(work.to_pitch, work.rows, work.columns)) {
    return "to_pitch must be 0, or at least a row and within the address space";
  }
  if (!aligned(work.from, kTypeA) || !aligned(work.to, kTypeC) || !aligned(work.gamma, kTypeA)) {
    return "addresses must be multiples of the elements' sizes";
  }
  return nullptr;
}

inline void run_rows(std::uint32_t block_num, OperatorStream& stream, RowsWork work) {
  if (work.rows == 0 || work.columns == 0) return;
  if (const char* const reason = check(work)) return stream.refuse(reason);
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, work.rows);
}

// Calls run(tile) for parts of one row of fp32 in `space` bytes.
template <class Run>
void for_parts(const RowsWork& work, std::uint32_t row, std::uint32_t space, Run run) {
  const std::uint32_t most = space / 4;
  for (std::uint64_t at = 0; at < work.columns; at += most) {
    run(AreaTile{row, at, 1,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(most, work.columns - at))});
  }
}

// The block's rows by Functions, on cores that compute in registers: whole(tile) for piece(port,
// work) rows at a time. False: piece() is 0, it does not do them.
template <class Functions>
bool run_in_registers(AicorePort& port, const RowsWork& work) {
  const std::uint32_t piece = Functions::piece(port, work);
  if (piece == 0) return false;
  Functions rows(port, work, piece);
  aicore::for_rows(port.call(), work.rows, piece, [&](std::uint32_t first, std::uint32_t count) {
    rows.whole({first, 0, count, work.columns});
  });
  return true;
}

// A block's rows, piece() at a time, or parts of one row after the other if not even one fits (0):
// `Rows` has whole(tile), parts(row), and end() for what whole() has loaded ahead. On cores that
// compute in registers by the first of `Functions` that does them.
template <class Rows, class... Functions>
int rows_kernel(AicorePort& port, const RowsWork& work) {
  const bool done = port.has_vector_functions() && (run_in_registers<Functions>(port, work) || ...);
  if (!done) {
    Rows rows(port, work);
    const std::uint32_t piece = rows.piece();
    aicore::for_rows(port.call(), work.rows, std::max(piece, 1U),
                     [&](std::uint32_t first, std::uint32_t count) {
                       if (piece != 0) {
                         rows.whole({first, 0, count, work.columns});
                       } else {
                         rows.parts(first);
                       }
                     });
    rows.end();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}
template <class Rows, class... Functions>
int rows_kernel(AicorePort& port) {
  return rows_kernel<Rows, Functions...>(
      port, work_from<RowsWork>(aicore::Arguments(port, kWorkWords<RowsWork>)));
}

}  // namespace npu::kernels::vector
