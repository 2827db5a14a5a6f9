// SPDX-License-Identifier: Apache-2.0
// The host's choice of tiles: of those that fit into the buffers, the one whose slowest core is
// done first. NPU_JIT_L1_M, _N and _K, NPU_JIT_L0_K decide instead where they are given.
#pragma once

#include <algorithm>

#include "kernels/device/common/operand.hpp"
#include "kernels/device/matmul/work.hpp"
#include "npu/aicore/block_scheduler.hpp"
#include "npu/aicore/tiles.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::kernels::matmul {

using operators::CoreLimits;

inline constexpr std::uint32_t kStages = 2;       // of each buffer, in turn
inline constexpr std::uint32_t kMostTile = 4095;  // of the cube's instruction
inline constexpr std::uint32_t kAccumulatorBytes = 4;

inline constexpr Tiling kWanted = {
#ifdef NPU_JIT_L1_M
    NPU_JIT_L1_M,
#else
    0,
#endif
#ifdef NPU_JIT_L1_N
    NPU_JIT_L1_N,
#else
    0,
#endif
#ifdef NPU_JIT_L1_K
    NPU_JIT_L1_K,
#else
    0,
#endif
#ifdef NPU_JIT_L0_K
    NPU_JIT_L0_K,
#else
    0,
#endif
};
static_assert(kWanted.m % 32 == 0 && kWanted.n % 32 == 0 && kWanted.k % 32 == 0 &&
                  kWanted.l0_k % 32 == 0,
              "NPU_JIT_L1_M, NPU_JIT_L1_N, NPU_JIT_L1_K and NPU_JIT_L0_K must be multiples of 32");
static_assert(kWanted.m <= kMostTile && kWanted.n <= kMostTile && kWanted.l0_k <= kMostTile,
              "NPU_JIT_L1_M, NPU_JIT_L1_N and NPU_JIT_L0_K must be at most 4095");

// The tiles of C (m x n) in their order.
inline aicore::BlockScheduler scheduler_of(std::uint32_t m, std::uint32_t n, const Tiling& tiling) {
  return {aicore::divide_up(m, tiling.m), aicore::divide_up(n, tiling.n), tiling.swizzle_offset,
          tiling.swizzle_direction};
}

template <class A, class B>
constexpr std::uint64_t stage_bytes(const Tiling& tile, DataType type) {
  return A::local_bytes(tile.m, tile.k, type) + B::local_bytes(tile.k, tile.n, type);
}

// Rows in L0 come in sixteens.
constexpr std::uint64_t l0_bytes(std::uint32_t rows, std::uint32_t columns, DataType type) {
  return std::uint64_t{aicore::round_up(rows, kFractalRows)} * aicore::row_bytes(columns, type);
}

template <class A, class B>
constexpr bool fits(const Tiling& tile, DataType type, const CoreLimits& limits) {
  const std::uint32_t grain = fractal_columns(type);
  if (tile.m % (A::kTransposed ? grain : kFractalRows) != 0 ||
      tile.n % (B::kTransposed ? kFractalRows : grain) != 0 || tile.k % grain != 0) {
    return false;
  }
  return tile.l0_k != 0 && tile.l0_k % grain == 0 &&
         kStages * stage_bytes<A, B>(tile, type) <= limits.l1 &&
         kStages * l0_bytes(tile.m, tile.l0_k, type) <= limits.l0a &&
         kStages * l0_bytes(tile.l0_k, tile.n, type) <= limits.l0b &&
         std::uint64_t{aicore::round_up(tile.m, kFractalRows)} * tile.n * kAccumulatorBytes <=
             limits.l0c;
}

// False: none fits. `pieces`: as many products of m x n x k share the cores.
template <class A, class B>
bool choose_tiling(Tiling& tiling, DataType type, std::uint64_t pieces, std::uint32_t m,
                   std::uint32_t n, std::uint32_t k, std::uint32_t cores,
                   const CoreLimits& limits) {
  // operators.md B3: panels of three tile rows if C is tall, of three tile columns if it is wide.
  tiling.swizzle_offset = 3;
  tiling.swizzle_direction = m >= n ? 0 : 1;
  bool found = false;
  std::uint64_t best = 0;
  for (std::uint32_t shrink = 1; shrink <= 4 && !found; shrink *= 2) {
    for (const aicore::TileShape& candidate : aicore::kTileCandidates) {
      Tiling tile = tiling;
      tile.m = kWanted.m != 0 ? kWanted.m : candidate.m;
      tile.n = kWanted.n != 0 ? kWanted.n : candidate.n;
      tile.k = kWanted.k != 0 ? kWanted.k : aicore::default_l1(type).k / shrink;
      tile.l0_k = kWanted.l0_k != 0 ? kWanted.l0_k : aicore::default_l0(type).k / shrink;
      tile.l0_k = std::min(tile.l0_k, tile.k);
      if (!fits<A, B>(tile, type, limits)) continue;
      const std::uint64_t blocks =
          pieces * aicore::divide_up(m, tile.m) * aicore::divide_up(n, tile.n);
      const std::uint64_t clocks = aicore::divide_up<std::uint64_t>(blocks, cores) *
                                   aicore::block_clocks({tile.m, tile.n, 0}, k, type);
      if (found && clocks >= best) continue;
      found = true;
      best = clocks;
      tiling = tile;
    }
  }
  return found;
}

}  // namespace npu::kernels::matmul
