// SPDX-License-Identifier: Apache-2.0
// The host's plan of an attention: how many groups and keys a step is of, tiles, and the workspace.
#pragma once

#include "kernels/device/attention/buffers.hpp"
#include "kernels/device/attention/cubes.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::kernels::attention {

using operators::CoreLimits;

// Bytes of a step's scores and weights, and of what they give, for each group.
inline std::uint64_t group_bytes(const Work& w) {
  const std::uint64_t of_row = std::uint64_t{w.chunk} * (4 + platform::bytes_of(kTypeA)) +
                               std::uint64_t{w.head} * (w.chunks() > 1 ? 8 : 4);
  return w.rows() * of_row;
}

// Keys as long as UB takes a row of, and then as many groups as stay in three quarters of the
// cache; fewer keys where one group does not.
inline void choose_steps(Work& w, const CoreLimits& limits) {
  constexpr std::uint32_t kLeast = 64, kMost = 2048;
  w.chunk = kMost;
  constexpr std::uint32_t kRows = 4;  // of a vector core's tile
  while (w.chunk > 32 && WeightBuffers(limits.ub, w.chunk).rows() < kRows) w.chunk /= 2;
  w.chunk = std::min(w.chunk, aicore::round_up(w.keys, 32U));
  while (w.chunk > kLeast && group_bytes(w) > limits.l2 / 4 * 3) {
    w.chunk = aicore::round_up(std::max(w.chunk / 2, kLeast), 32U);
  }
  const std::uint64_t most = std::max<std::uint64_t>(limits.l2 / 4 * 3 / group_bytes(w), 1);
  const std::uint64_t waves = aicore::divide_up<std::uint64_t>(w.groups, most);
  w.wave = static_cast<std::uint32_t>(aicore::divide_up<std::uint64_t>(w.groups, waves));
}

// Tiles of a step's weights times values.
inline std::uint64_t value_tiles(const Work& w) {
  return std::uint64_t{w.wave} * aicore::divide_up(w.rows(), w.value_tiling.m) *
         aicore::divide_up(w.head, w.value_tiling.n);
}
inline std::uint64_t score_tiles(const Work& w) {
  return std::uint64_t{w.wave} * aicore::divide_up(w.rows(), w.score_tiling.m) *
         aicore::divide_up(w.chunk, w.score_tiling.n);
}

// False: no tile fits.
inline bool choose_tiles(Work& w, std::uint32_t cubes, CoreLimits limits) {
  limits.l0c /= kTilesInL0c;
  if (!matmul::choose_tiling<Rows, Columns>(w.score_tiling, kTypeA, w.wave, w.rows(), w.chunk,
                                            w.head, cubes, limits) ||
      !matmul::choose_tiling<Rows, Rows>(w.value_tiling, kTypeA, w.wave, w.rows(), w.head, w.chunk,
                                         cubes, limits)) {
    return false;
  }
  // Cores without a tile get a part of the keys, where every tile has all parts.
  const auto wanted = static_cast<std::uint32_t>(
      w.tiles_see_all() ? std::max<std::uint64_t>(cubes / value_tiles(w), 1) : 1);
  const std::uint32_t grain = std::min(w.value_tiling.k, w.chunk);
  w.part = aicore::round_up(aicore::divide_up(w.chunk, wanted), grain);
  return true;
}

// Bytes of the workspace, which begins at `at`.
inline std::uint64_t place(Work& w, std::uint64_t at) {
  const std::uint64_t begin = at;
  const auto take = [&at](std::uint64_t bytes) {
    const std::uint64_t place = at;
    at += aicore::round_up<std::uint64_t>(bytes, 512);
    return place;
  };
  const std::uint64_t rows = std::uint64_t{w.wave} * w.rows();
  w.scores = take(rows * w.chunk * 4);
  w.weights = take(rows * w.chunk * platform::bytes_of(kTypeA));
  w.values = take(w.parts_of(0) * rows * w.head * 4);
  if (w.chunks() > 1) w.output = take(rows * w.head * 4);
  for (auto* const numbers : {&w.largest, &w.sums, &w.factors[0], &w.factors[1]}) {
    *numbers = take(std::uint64_t{w.groups} * w.rows() * 4);
  }
  return at - begin;
}

}  // namespace npu::kernels::attention
