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

// Candidates for m and n, the default first (kernel-times.md K38; the widest fits the 950's L0C).
inline constexpr TileShape kTileCandidates[] = {
    {128, 256, 0}, {256, 128, 0}, {256, 256, 0}, {128, 128, 0}, {64, 256, 0}, {256, 64, 0},
    {64, 128, 0},  {128, 64, 0},  {64, 64, 0},   {32, 256, 0},  {32, 128, 0}, {16, 256, 0},
    {16, 128, 0},  {16, 64, 0},   {16, 32, 0},   {16, 16, 0}};

// The load rate for rows of `bytes`, in percent of the full rate: the published (bytes / 512)^0.34
// below 512 (kernel-times.md K10), straight lines between powers of two.
constexpr std::uint64_t row_efficiency(std::uint64_t bytes) {
  constexpr std::uint64_t kPercent[] = {39, 49, 62, 79, 100};  // of 32, 64, 128, 256 and 512 bytes
  std::uint64_t below = 32;
  for (unsigned i = 1; i < 5; ++i, below *= 2) {
    if (bytes < 2 * below) {
      const std::uint64_t above = bytes < below ? 0 : bytes - below;
      return kPercent[i - 1] + (kPercent[i] - kPercent[i - 1]) * above / below;
    }
  }
  return 100;
}

// Bytes of the rows that a block loads of A and B.
struct TileLoads {
  std::uint64_t a_row = 0, b_row = 0;
};

// Core clocks of one block: the longer of loading (m + n) * k elements at kLoadBytes per clock, and
// multiplying.
constexpr std::uint64_t block_clocks(const TileShape& tile, std::uint32_t k,
                                     platform::DataType type, const TileLoads& loads) {
  constexpr std::uint64_t kLoadBytes = 76;  // kernel-times.md K14: L2 to L1, per core
  constexpr std::uint64_t kFractal = 16;
  const std::uint64_t bytes = platform::bytes_of(type);
  const std::uint64_t columns =
      tile.m * 100 / row_efficiency(loads.a_row) + tile.n * 100 / row_efficiency(loads.b_row);
  const std::uint64_t load = columns * bytes * k / kLoadBytes;
  const std::uint64_t fractals = (tile.m + kFractal - 1) / kFractal *
                                 ((tile.n + kFractal - 1) / kFractal) * ((k * bytes + 31) / 32);
  return std::max(load, type == platform::DataType::kFp32 ? 2 * fractals : fractals);
}

// Core clocks of FixPipe for a block, in two bytes each element (kernel-times.md K24).
constexpr std::uint64_t store_clocks(const TileShape& tile) {
  return std::uint64_t{tile.m} * tile.n * 2 / 41;
}

}  // namespace npu::aicore
