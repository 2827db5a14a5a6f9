// SPDX-License-Identifier: Apache-2.0
// Tiles of matrix multiplications, for kernels and their host code: default sizes, and the cost of
// a block.
#pragma once

#include <algorithm>
#include <cstdint>

#include "npu/platform/aicore_port.hpp"

namespace npu::aicore {

struct TileShape {
  std::uint32_t m = 0, n = 0, k = 0;
};

// The type in which the cube accumulates.
constexpr platform::DataType accumulator(platform::DataType type) {
  return type == platform::DataType::kInt8 ? platform::DataType::kInt32 : platform::DataType::kFp32;
}

// Default tiles of the public libraries (operators.md B3).
constexpr TileShape default_l1(platform::DataType type) {
  switch (type) {
    case platform::DataType::kInt8:
      return {128, 256, 512};
    case platform::DataType::kFp32:
      return {128, 128, 256};
    default:
      return {128, 256, 256};
  }
}
constexpr TileShape default_l0(platform::DataType type) {
  switch (type) {
    case platform::DataType::kInt8:
      return {128, 256, 128};
    case platform::DataType::kFp32:
      return {128, 128, 64};
    default:
      return {128, 256, 64};
  }
}

// Candidates for m and n, the default first.
inline constexpr TileShape kTileCandidates[] = {
    {128, 256, 0}, {256, 128, 0}, {128, 128, 0}, {64, 256, 0}, {256, 64, 0},
    {64, 128, 0},  {128, 64, 0},  {64, 64, 0},   {32, 256, 0}, {32, 128, 0},
    {16, 256, 0},  {16, 128, 0},  {16, 64, 0}};

// The load rate for rows of B of `bytes`, in percent of the full rate: the published (bytes /
// 512)^0.34 below 512 (kernel-times.md K10).
constexpr std::uint64_t row_efficiency(std::uint64_t bytes) {
  return bytes >= 512 ? 100 : bytes >= 256 ? 79 : bytes >= 128 ? 62 : 49;
}

// Core clocks of one block: the longer of loading (m + n) * k elements at kLoadBytes per clock, and
// multiplying.
constexpr std::uint64_t block_clocks(const TileShape& tile, std::uint32_t k,
                                     platform::DataType type) {
  constexpr std::uint64_t kLoadBytes = 76;  // kernel-times.md K14: L2 to L1, per core
  constexpr std::uint64_t kFractal = 16;
  const std::uint64_t bytes = platform::bytes_of(type);
  const std::uint64_t load =
      (tile.m + tile.n * 100 / row_efficiency(tile.n * bytes)) * bytes * k / kLoadBytes;
  const std::uint64_t fractals = (tile.m + kFractal - 1) / kFractal *
                                 ((tile.n + kFractal - 1) / kFractal) * ((k * bytes + 31) / 32);
  return std::max(load, type == platform::DataType::kFp32 ? 2 * fractals : fractals);
}

}  // namespace npu::aicore
