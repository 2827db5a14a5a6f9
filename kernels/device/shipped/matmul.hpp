// SPDX-License-Identifier: Apache-2.0
// A multiplication as the kernel is told of it: C (m x n) = A (m x k) x B (k x n), row by row.
#pragma once

#include <cstdint>

#include "npu/aicore/kernel.hpp"
#include "npu/aicore/tiles.hpp"

namespace npu::kernels::gemm {

using aicore::accumulator;
using aicore::default_l0;
using aicore::default_l1;
using aicore::TileShape;
using platform::DataType;

struct Problem {
  std::uint64_t a = 0, b = 0, c = 0;  // device addresses
  std::uint32_t m = 0, n = 0, k = 0;
  std::uint32_t lda = 0, ldb = 0, ldc = 0;  // elements from row to row
  DataType type = DataType::kFp16;          // of A and B
  DataType to_type = DataType::kFp16;       // of C
  TileShape l1, l0;                         // m and n are alike
  std::uint32_t swizzle_offset = 3, swizzle_direction = 0;
};

// The argument words of the task: two numbers in a word, the first one in its lower half.
inline constexpr unsigned kWords = 12;
constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}
struct Words {
  std::uint64_t word[kWords];
};
constexpr Words to_words(const Problem& p) {
  return {{p.a, p.b, p.c, pair(p.m, p.n), pair(p.k, p.lda), pair(p.ldb, p.ldc),
           pair(static_cast<std::uint32_t>(p.type), static_cast<std::uint32_t>(p.to_type)),
           pair(p.l1.m, p.l1.n), pair(p.l1.k, p.l0.k), pair(p.l0.m, p.l0.n),
           pair(p.swizzle_offset, p.swizzle_direction), 0}};
}
constexpr Problem from_words(const Words& w) {
  const auto low = [&w](unsigned i) { return static_cast<std::uint32_t>(w.word[i]); };
  const auto high = [&w](unsigned i) { return static_cast<std::uint32_t>(w.word[i] >> 32); };
  Problem p;
  p.a = w.word[0];
  p.b = w.word[1];
  p.c = w.word[2];
  p.m = low(3), p.n = high(3);
  p.k = low(4), p.lda = high(4);
  p.ldb = low(5), p.ldc = high(5);
  p.type = aicore::data_type(low(6)), p.to_type = aicore::data_type(high(6));
  p.l1 = {low(7), high(7), low(8)};
  p.l0 = {low(9), high(9), high(8)};
  p.swizzle_offset = low(10), p.swizzle_direction = high(10);
  return p;
}

// Whether the kernel can count with it. Whether a tile fits into the buffers, the core says.
constexpr bool valid(const Problem& p) {
  constexpr std::uint32_t kMostSide = (std::uint32_t{1} << 31) - 1;
  constexpr std::uint32_t kMostTile = 4095;  // of the cube's instruction
  for (const auto side : {p.m, p.n, p.k}) {
    if (side > kMostSide) return false;
  }
  for (const auto side : {p.l1.m, p.l1.n, p.l1.k, p.l0.k}) {
    if (side == 0 || side > kMostTile) return false;
  }
  return platform::bytes_of(p.type) != 0 && platform::bytes_of(p.to_type) != 0;
}

}  // namespace npu::kernels::gemm
