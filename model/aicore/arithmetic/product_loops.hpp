// SPDX-License-Identifier: Apache-2.0
// The loops of product_kernel.hpp, for source files that are compiled for one set of instructions
// each. Everything is the including file's own: no function here may be shared with another one.
#pragma once

#include <cstring>
#if defined(__F16C__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "model/aicore/arithmetic/product_kernel.hpp"

namespace npu::model::arithmetic {
namespace {

using Vector = float __attribute__((vector_size(kWidth)));
using Unaligned = float __attribute__((vector_size(kWidth), aligned(4), may_alias));
constexpr std::size_t kVector = sizeof(Vector) / sizeof(float);
constexpr std::size_t kColumns = 2 * kVector;  // of C at once
constexpr std::size_t kRows = sizeof(Vector) == 64 ? 8 : 4;
constexpr std::size_t kDepth = 256;  // of k at once
constexpr std::size_t kAhead = 12;   // rows that are asked for before they are needed
// From panel to panel of B, not a power of two, as they are written side by side.
constexpr std::size_t kPanel = (kDepth + 1) * kColumns;

inline std::size_t bytes_of(const KernelProduct& p) {
  if (p.type == Operand::kFloat) return 4;
  return p.type == Operand::kInt8 ? 1 : 2;  // of an element
}

inline float half_to_float(std::uint16_t half) {
  std::uint32_t magnitude = (half & 0x7FFFU) << 13;
  const bool special = magnitude >= 0x0F80'0000;  // the exponent of infinities and NaNs
  float value = 0;
  std::memcpy(&value, &magnitude, sizeof value);
  value *= 0x1p112F;
  std::memcpy(&magnitude, &value, sizeof value);
  magnitude |= (special ? 0x7F80'0000U : 0U) | (half & 0x8000U) << 16;
  std::memcpy(&value, &magnitude, sizeof value);
  return value;
}

inline void floats_of_halves(const unsigned char* from, float* to, std::size_t count) {
  std::size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= count; i += 16) {
    __m256i halves;
    std::memcpy(&halves, from + 2 * i, sizeof halves);
    _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(0xFFFF, halves));
  }
#elif defined(__F16C__)
  for (; i + 8 <= count; i += 8) {
    __m128i halves;
    std::memcpy(&halves, from + 2 * i, sizeof halves);
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < count; ++i) {
    std::uint16_t half = 0;
    std::memcpy(&half, from + 2 * i, sizeof half);
    to[i] = half_to_float(half);
  }
}

inline void floats_of_brains(const unsigned char* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t brain = 0;
    std::memcpy(&brain, from + 2 * i, sizeof brain);
    const std::uint32_t bits = std::uint32_t{brain} << 16;
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

inline void floats_of_int8(const unsigned char* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(static_cast<std::int8_t>(from[i]));
  }
}

inline void floats(Operand type, const unsigned char* from, float* to, std::size_t count) {
  if (type == Operand::kHalf) return floats_of_halves(from, to, count);
  if (type == Operand::kFloat) {
    std::memcpy(to, from, count * sizeof(float));
    return;
  }
  return type == Operand::kBrain ? floats_of_brains(from, to, count)
                                 : floats_of_int8(from, to, count);
}

// Operands lie in memory that many cores use in turns, and their rows far apart.
inline void prefetch_row(const unsigned char* row, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(row + i);
}

// Rows of A in fp32 at kDepth.
inline void pack_left(const KernelProduct& p, const ProductPiece& piece, std::size_t first,
                      std::size_t depth, float* left) {
  const unsigned char* a = piece.a + bytes_of(p) * first;
  for (std::size_t i = 0; i < p.m; ++i, a += piece.a_pitch) {
    if (i + kAhead < p.m) prefetch_row(a + kAhead * piece.a_pitch, bytes_of(p) * depth);
    floats(p.type, a, left + i * kDepth, depth);
  }
}

// Columns of B in fp32 in panels of kColumns, the last one filled up with zeros.
inline void pack_right(const KernelProduct& p, const ProductPiece& piece, std::size_t first,
                       std::size_t depth, float* right) {
  const unsigned char* b = piece.b + first * piece.b_pitch;
  for (std::size_t l = 0; l < depth; ++l, b += piece.b_pitch, right += kColumns) {
    if (l + kAhead < depth) prefetch_row(b + kAhead * piece.b_pitch, bytes_of(p) * p.n);
    float* to = right;
    for (std::size_t j = 0; j < p.n; j += kColumns, to += kPanel) {
      const std::size_t columns = p.n - j < kColumns ? p.n - j : kColumns;
      floats(p.type, b + bytes_of(p) * j, to, columns);
      for (std::size_t i = columns; i < kColumns; ++i) to[i] = 0;
    }
  }
}

// To `sums`, the products of a float and those of a vector, with one rounding for both.
inline void add_fused(Vector& sums, float row, const Vector& factors) {
#if defined(__FMA__) || defined(__AVX512F__)
  sums += row * factors;  // contracted: -ffp-contract=fast
#else
  for (std::size_t i = 0; i < kVector; ++i) sums[i] = __builtin_fmaf(row, factors[i], sums[i]);
#endif
}

// Rows x kColumns of C: (+)= rows of A times one panel of B.
template <std::size_t Rows, bool Fused>
inline void block(const float* left, const float* right, std::size_t depth, bool accumulate,
                  float* c, std::size_t c_pitch) {
  const auto at = [](float* p) { return reinterpret_cast<Unaligned*>(p); };
  Vector sums[Rows][2];
  for (std::size_t i = 0; i < Rows; ++i) {
    sums[i][0] = accumulate ? *at(c + i * c_pitch) : Vector{};
    sums[i][1] = accumulate ? *at(c + i * c_pitch + kVector) : Vector{};
  }
  for (std::size_t l = 0; l < depth; ++l, right += kColumns) {
    const Vector first = *reinterpret_cast<const Unaligned*>(right);
    const Vector second = *reinterpret_cast<const Unaligned*>(right + kVector);
    for (std::size_t i = 0; i < Rows; ++i) {
      const float row = left[i * kDepth + l];
      if constexpr (Fused) {
        add_fused(sums[i][0], row, first);
        add_fused(sums[i][1], row, second);
      } else {
        sums[i][0] += row * first;
        sums[i][1] += row * second;
      }
    }
  }
  for (std::size_t i = 0; i < Rows; ++i) {
    *at(c + i * c_pitch) = sums[i][0];
    *at(c + i * c_pitch + kVector) = sums[i][1];
  }
}

// One panel of B with all rows of A.
template <bool Fused>
inline void panel_of(const KernelProduct& p, const float* left, const float* right,
                     std::size_t depth, bool accumulate, float* c, std::size_t c_pitch) {
  std::size_t i = 0;
  for (; i + kRows <= p.m; i += kRows) {
    // C comes from far: many cores take turns.
    for (std::size_t next = i + kRows; next < i + 2 * kRows && next < p.m; ++next) {
      __builtin_prefetch(c + next * c_pitch, 1);
      __builtin_prefetch(c + next * c_pitch + kVector, 1);
    }
    block<kRows, Fused>(left + i * kDepth, right, depth, accumulate, c + i * c_pitch, c_pitch);
  }
  for (; i < p.m; ++i) {
    block<1, Fused>(left + i * kDepth, right, depth, accumulate, c + i * c_pitch, c_pitch);
  }
}

inline void panel(const KernelProduct& p, const float* left, const float* right, std::size_t depth,
                  bool accumulate, float* c, std::size_t c_pitch) {
  if (p.type == Operand::kFloat) {
    panel_of<true>(p, left, right, depth, accumulate, c, c_pitch);
  } else {
    panel_of<false>(p, left, right, depth, accumulate, c, c_pitch);
  }
}

// The last panel, which C does not have all columns of, by way of `whole`.
inline void last_panel(const KernelProduct& p, const float* left, const float* right,
                       std::size_t depth, bool accumulate, float* c, std::size_t columns,
                       float* whole) {
  for (std::size_t i = 0; accumulate && i < p.m; ++i) {
    std::memcpy(whole + i * kColumns, c + i * p.c_pitch, columns * sizeof(float));
  }
  panel(p, left, right, depth, accumulate, whole, kColumns);
  for (std::size_t i = 0; i < p.m; ++i) {
    std::memcpy(c + i * p.c_pitch, whole + i * kColumns, columns * sizeof(float));
  }
}

std::size_t scratch_floats(std::size_t m, std::size_t n) {
  return m * (kDepth + kColumns) + (n / kColumns + 1) * kPanel;
}

// What has been packed.
inline void multiply_packed(const KernelProduct& p, const float* left, const float* right,
                            std::size_t depth, bool accumulate, float* c, float* whole) {
  for (std::size_t j = 0; j < p.n; j += kColumns, right += kPanel) {
    if (j + kColumns <= p.n) {
      panel(p, left, right, depth, accumulate, c + j, p.c_pitch);
    } else {
      last_panel(p, left, right, depth, accumulate, c + j, p.n - j, whole);
    }
  }
}

void multiply_pieces(const KernelProduct& p, const ProductPiece* pieces, std::size_t count,
                     float* c, float* scratch) {
  float* const left = scratch;
  float* const whole = left + p.m * kDepth;
  float* const right = whole + p.m * kColumns;
  bool accumulate = p.accumulate;
  std::size_t packed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t first = 0; first < pieces[i].k;) {
      const std::size_t rest = pieces[i].k - first, room = kDepth - packed;
      const std::size_t depth = rest < room ? rest : room;
      pack_left(p, pieces[i], first, depth, left + packed);
      pack_right(p, pieces[i], first, depth, right + packed * kColumns);
      first += depth;
      packed += depth;
      if (packed < kDepth && (first < pieces[i].k || i + 1 < count)) continue;
      multiply_packed(p, left, right, packed, accumulate, c, whole);
      accumulate = true;
      packed = 0;
    }
  }
}

}  // namespace
}  // namespace npu::model::arithmetic
