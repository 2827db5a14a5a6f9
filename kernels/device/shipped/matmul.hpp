// SPDX-License-Identifier: Apache-2.0
// A multiplication as the kernel is told of it: C (m x n) = A (m x k) x B (k x n), row by row.
#pragma once

#include <array>

#include "kernels/device/matmul/tiling.hpp"

namespace npu::kernels::gemm {

using matmul::Tiling;
using platform::DataType;
using Matrix = Operand<Layout::kRowMajor, DataType>;

struct Problem {
  std::uint64_t a = 0, b = 0, c = 0;  // device addresses
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t lda = 0, ldb = 0, ldc = 0;  // elements from row to row
  DataType type = DataType::kFp16;          // of A and B
  DataType to_type = DataType::kFp16;       // of C
  Tiling tiling;
};

// The usual tiles of a type, whatever the sizes.
constexpr Tiling usual_tiling(DataType type) {
  const aicore::TileShape l1 = aicore::default_l1(type);
  return {l1.m, l1.n, l1.k, aicore::default_l0(type).k};
}
// Of an A2 (runtime.md A1) with a cache that holds everything.
inline constexpr operators::CoreLimits kA2{512 << 10, 64 << 10, 64 << 10, 128 << 10};
// The host's choice for so many cores. No tile fits: the tiling is that of an A2.
inline void choose_tiles(Problem& p, std::uint32_t cores,
                         const operators::CoreLimits& limits = kA2) {
  if (!matmul::choose_tiling<Matrix, Matrix>(p.tiling, p.type, 1, p.m, p.n, p.k, cores, limits)) {
    matmul::choose_tiling<Matrix, Matrix>(p.tiling, p.type, 1, p.m, p.n, p.k, cores, kA2);
  }
}

// The argument words of the task: two numbers in a word, the first one in its lower half.
inline constexpr unsigned kWords = 12;  // the last two are spare
using Words = std::array<std::uint64_t, kWords>;

constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
constexpr Words to_words(const Problem& p) {
  const Tiling& t = p.tiling;
  return {p.a,
          p.b,
          p.c,
          pair(p.m, p.n),
          pair(p.k, p.lda),
          pair(p.ldb, p.ldc),
          pair(static_cast<std::uint32_t>(p.type), static_cast<std::uint32_t>(p.to_type)),
          pair(t.m, t.n),
          pair(t.k, t.l0_k),
          pair(t.swizzle_offset, t.swizzle_direction)};
}
constexpr Problem from_words(const Words& w) {
  const auto low = [&w](unsigned i) { return static_cast<std::uint32_t>(w[i]); };
  const auto high = [&w](unsigned i) { return static_cast<std::uint32_t>(w[i] >> 32); };
  Problem p;
  p.a = w[0], p.b = w[1], p.c = w[2];
  p.m = low(3), p.n = high(3);
  p.k = low(4), p.lda = high(4);
  p.ldb = low(5), p.ldc = high(5);
  p.type = aicore::data_type(low(6)), p.to_type = aicore::data_type(high(6));
  p.tiling = {low(7), high(7), low(8), high(8), low(9), high(9)};
  return p;
}

// Whether the kernel can count with it. Whether a tile fits into the buffers, the core says.
constexpr bool valid(const Problem& p) {
  constexpr std::uint32_t kMostSide = (std::uint32_t{1} << 31) - 1;
  constexpr std::uint32_t kMostTile = 4095;  // of the cube's instruction
  for (const auto side : {p.m, p.n, p.k}) {
    if (side > kMostSide) return false;
  }
  for (const auto side : {p.tiling.m, p.tiling.n, p.tiling.k, p.tiling.l0_k}) {
    if (side == 0 || side > kMostTile) return false;
  }
  return platform::bytes_of(p.type) != 0 && platform::bytes_of(p.to_type) != 0;
}

}  // namespace npu::kernels::gemm
