// SPDX-License-Identifier: Apache-2.0
// The host's choice of tiles: of those that fit, the one whose slowest core is done first by what
// bounds it, loads into L1 or the cube (kernel-times.md K38).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/shipped/matmul.hpp"

namespace npu::kernels::gemm {

// l1.k and l0.k are the type's defaults.
inline void choose_tiles(Problem& problem, std::uint32_t cores) {
  problem.l1 = default_l1(problem.type);
  problem.l0 = default_l0(problem.type);
  std::uint64_t best = UINT64_MAX;
  const TileShape largest = problem.l1;
  // Two stages each: half of L0A or L0B for a side, half of L1 for both (operators.md B3, for A2).
  constexpr std::uint64_t kHalfL0 = 32 << 10, kHalfL1 = 256 << 10;
  const std::uint64_t element = platform::bytes_of(problem.type);
  for (const TileShape& tile : aicore::kTileCandidates) {
    if (std::uint64_t{tile.m} * tile.n > std::uint64_t{largest.m} * largest.n) continue;
    if (std::max(tile.m, tile.n) * problem.l0.k * element > kHalfL0) continue;
    if ((tile.m + tile.n) * problem.l1.k * element > kHalfL1) continue;
    const std::uint64_t blocks =
        std::uint64_t{(problem.m + tile.m - 1) / tile.m} * ((problem.n + tile.n - 1) / tile.n);
    const std::uint64_t rounds = (blocks + cores - 1) / cores;
    const std::uint64_t clocks = rounds * aicore::block_clocks(tile, problem.k, problem.type);
    if (clocks >= best) continue;
    best = clocks;
    problem.l1.m = problem.l0.m = tile.m;
    problem.l1.n = problem.l0.n = tile.n;
  }
  // operators.md B3: panels of three tile rows if C is tall, of three tile columns if it is wide.
  problem.swizzle_offset = 3;
  problem.swizzle_direction = problem.m >= problem.n ? 0 : 1;
}

}  // namespace npu::kernels::gemm
