// SPDX-License-Identifier: Apache-2.0
// The host's plan of an attention: rows and keys of a task, and the workspace.
#pragma once

#include "kernels/device/attention/combine.hpp"
#include "kernels/device/attention/cube.hpp"
#include "kernels/device/attention/local_buffers.hpp"
#include "kernels/device/attention/vector_buffers.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::kernels::attention {

using operators::CoreLimits;

// The longest rows of a head that the buffers take.
inline std::uint32_t longest_head(const CoreLimits& limits) {
  const std::uint64_t of_l0 = limits.l0b / Cube::kHalves / (Cube::kFractal * kBytes);
  const std::uint64_t of_ub = limits.ub / (4 * 4 * 8);
  return static_cast<std::uint32_t>(std::min(of_l0, of_ub));
}

// Rows: 128 queries, or as many as L0C takes the output of.
inline void choose_rows(Work& w, const CoreLimits& limits) {
  // Between buffers heads are not brought together but for single queries.
  constexpr std::uint32_t kMost = 128;
  const std::uint32_t few = w.local != 0 ? 1 : 16;
  const std::uint64_t row = aicore::round_up(w.head, Cube::kFractal) * 4;
  w.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(limits.l0c / row, kMost));
  w.rows = std::max(w.rows / Cube::kFractal * Cube::kFractal, Cube::kFractal);
  const std::uint64_t of_group = std::uint64_t{w.shared()} * w.queries;
  w.grouped = of_group <= w.rows && w.queries <= few ? 1 : 0;
  w.rows = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(w.grouped != 0 ? of_group : w.queries, w.rows));
}

// Between buffers: as many keys of a step as UB has room for, then places for products; fewer rows
// where one place is too much.
inline bool choose_places(Work& w, const CoreLimits& limits) {
  const std::uint32_t most = w.keys > w.piece ? 2 : 1;
  for (;;) {
    for (std::uint32_t pieces = most; pieces > 0; --pieces) {
      w.chunk = pieces * w.piece;
      for (w.places = Ring::kPlaces; w.places > 0; --w.places) {
        const bool fits = LocalBuffers(w).end() <= limits.ub && CubeBuffers(w).end() <= limits.l1;
        if (fits) return true;
      }
    }
    if (w.grouped != 0 || w.rows <= Cube::kFractal) return false;
    w.rows = (w.rows - 1) / Cube::kFractal * Cube::kFractal;
  }
}

// False: not one fits.
inline bool choose_keys(Work& w, const CoreLimits& limits, bool coupled) {
  constexpr std::uint32_t kPiece = 128;
  // Between buffers, of few rows: a short piece takes the scalar unit longer than its load from the
  // L2 takes; a fit, too.
  constexpr std::uint32_t kFewRows = 16;
  constexpr std::uint32_t kLongPiece = 256;
  // Of few rows, through memory: what two of them leave of the HBM's rate with D = 128 is a fit
  // (docs/accuracy/fitted.csv).
  constexpr std::uint32_t kFewPiece = 64;
  const std::uint32_t most = w.local != 0 ? kPiece : 512;
  const bool few = w.local != 0 ? w.rows <= kFewRows : w.grouped != 0;
  const std::uint32_t of_few = w.local != 0 ? kLongPiece : kFewPiece;
  const std::uint32_t most_keys = few ? of_few : kPiece;
  w.piece = std::min(most_keys, aicore::round_up(w.keys, Cube::kFractal));
  const auto fits = [&] {
    w.chunk = std::min(std::max(most / w.piece, 1U) * w.piece, aicore::round_up(w.keys, w.piece));
    const std::uint64_t l0c = std::uint64_t{aicore::round_up(w.rows, Cube::kFractal)} *
                              aicore::round_up(w.piece, Cube::kFractal) * 4;
    const std::uint64_t l0b = std::uint64_t{Cube::kFractal} * aicore::row_bytes(w.piece, kTypeA);
    return CubeBuffers(w).end() <= limits.l1 && l0c <= limits.l0c / Cube::kHalves &&
           l0b <= limits.l0b / Cube::kHalves;
  };
  while (w.piece > Cube::kFractal && !fits()) w.piece -= Cube::kFractal;
  if (!fits()) return false;
  if (w.local != 0) return choose_places(w, limits);
  const auto computes = [&] {
    const VectorBuffers ub(w, limits.ub, coupled);
    return ub.rows() >= std::min(w.rows, 8U) && ub.output_rows() != 0;
  };
  while (w.chunk > w.piece && !computes()) w.chunk -= w.piece;
  return computes();
}

// Where tasks of few rows leave clusters without one, the keys of each are divided.
inline void choose_splits(Work& w, const CoreLimits& limits, std::uint32_t clusters) {
  w.splits = 1;
  w.split = w.keys;
  if (w.grouped == 0 || w.tasks() * 2 > clusters) return;
  const auto wanted = static_cast<std::uint32_t>(clusters / w.tasks());
  w.split = aicore::round_up(aicore::divide_up(w.keys, wanted), w.piece);
  w.splits = aicore::divide_up(w.keys, w.split);
  if (w.splits > 1 && Combine::rows_in(w, limits.ub) != 0) return;
  w.splits = 1;
  w.split = w.keys;
}

// Bytes of the workspace, which begins at `at`.
inline std::uint64_t place(Work& w, std::uint64_t at, std::uint64_t blocks) {
  const std::uint64_t begin = at;
  w.ring = at;
  w.ring_bytes = Ring::bytes_of(w);
  at += blocks * w.ring_bytes;
  if (w.splits == 1) return at - begin;
  const std::uint64_t rows = w.tasks() * w.rows;
  w.parts = at;
  at += aicore::round_up<std::uint64_t>(rows * w.head * 4, 512);
  w.numbers = at;
  return at + 2 * rows * 4 - begin;
}

}  // namespace npu::kernels::attention
