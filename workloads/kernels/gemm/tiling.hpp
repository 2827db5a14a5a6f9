// SPDX-License-Identifier: Apache-2.0
// The host's choice of tiles: of those that fit, the one whose slowest core is done first by what
// bounds it, loads into L1 or the cube (kernel-times.md K38).
#pragma once

#include <algorithm>
#include <cstdint>

#include "workloads/kernels/gemm/problem.hpp"

namespace npu::kernels::gemm {

// Share of the load rate that rows of B of so many bytes get, in percent: the published
// (bytes / 512)^0.34 below 512 (kernel-times.md K10).
constexpr std::uint64_t row_efficiency(std::uint64_t bytes) {
  return bytes >= 512 ? 100 : bytes >= 256 ? 79 : bytes >= 128 ? 62 : 49;
}

// Core clocks of one block: load (m + n) K bytes at kLoadBytes per clock, or multiply.
constexpr std::uint64_t block_clocks(const TileShape& tile, std::uint32_t k, DataType type) {
  constexpr std::uint64_t kLoadBytes = 76;  // kernel-times.md K14: L2 to L1, per core
  constexpr std::uint64_t kFractal = 16;
  const std::uint64_t bytes = platform::bytes_of(type);
  const std::uint64_t load =
      (tile.m + tile.n * 100 / row_efficiency(tile.n * bytes)) * bytes * k / kLoadBytes;
  const std::uint64_t fractals = (tile.m + kFractal - 1) / kFractal *
                                 ((tile.n + kFractal - 1) / kFractal) * ((k * bytes + 31) / 32);
  return std::max(load, type == DataType::kFp32 ? 2 * fractals : fractals);
}

// l1.k and l0.k are the type's defaults.
inline void choose_tiles(Problem& problem, std::uint32_t cores) {
  constexpr TileShape kCandidates[] = {{128, 256, 0}, {256, 128, 0}, {128, 128, 0}, {64, 256, 0},
                                       {256, 64, 0},  {64, 128, 0},  {128, 64, 0},  {64, 64, 0},
                                       {32, 256, 0},  {32, 128, 0},  {16, 256, 0},  {16, 128, 0},
                                       {16, 64, 0}};
  problem.l1 = default_l1(problem.type);
  problem.l0 = default_l0(problem.type);
  std::uint64_t best = UINT64_MAX;
  const TileShape largest = problem.l1;
  // Two stages each: half of L0A or L0B for a side, half of L1 for both (operators.md B3, for A2).
  constexpr std::uint64_t kHalfL0 = 32 << 10, kHalfL1 = 256 << 10;
  const std::uint64_t element = platform::bytes_of(problem.type);
  for (const TileShape& tile : kCandidates) {
    if (std::uint64_t{tile.m} * tile.n > std::uint64_t{largest.m} * largest.n) continue;
    if (std::max(tile.m, tile.n) * problem.l0.k * element > kHalfL0) continue;
    if ((tile.m + tile.n) * problem.l1.k * element > kHalfL1) continue;
    const std::uint64_t blocks =
        std::uint64_t{(problem.m + tile.m - 1) / tile.m} * ((problem.n + tile.n - 1) / tile.n);
    const std::uint64_t rounds = (blocks + cores - 1) / cores;
    const std::uint64_t clocks = rounds * block_clocks(tile, problem.k, problem.type);
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
