// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/matrix.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model/aicore/arithmetic/product_kernel.hpp"

namespace npu::model::arithmetic {

using platform::DataType;

namespace {

template <class T>
void transpose(const Matrix& matrix, const unsigned char* from, unsigned char* to, Bytes to_pitch) {
  for (std::uint32_t row = 0; row < matrix.rows; ++row) {
    const unsigned char* element = from + row * matrix.pitch;
    unsigned char* out = to + row * sizeof(T);
    for (std::uint32_t column = 0; column < matrix.columns; ++column) {
      std::memcpy(out, element, sizeof(T));
      element += sizeof(T);
      out += to_pitch;
    }
  }
}

// Vectors that lie across two lines of the cache are slow.
constexpr std::size_t kLineFloats = 16;
struct alignas(64) Line {
  float floats[kLineFloats];
};

const ProductKernel& widest_kernel() {
  const ProductKernel* kernel = product_kernel(64);
  if (kernel == nullptr) kernel = product_kernel(32);
  return kernel == nullptr ? *product_kernel(16) : *kernel;
}

// Pieces whose operands lie side by side as one.
void join_halves(const ProductPiece* pieces, std::size_t count, std::vector<ProductPiece>& joined) {
  joined.clear();
  for (const auto* piece = pieces; piece != pieces + count; ++piece) {
    if (!joined.empty()) {
      ProductPiece& last = joined.back();
      if (piece->a == last.a + 2 * std::size_t{last.k} && piece->a_pitch == last.a_pitch &&
          piece->b == last.b + last.k * last.b_pitch && piece->b_pitch == last.b_pitch) {
        last.k += piece->k;
        continue;
      }
    }
    joined.push_back(*piece);
  }
}

void multiply_halves(const MatrixProduct& product, const ProductPiece* pieces, std::size_t count,
                     unsigned char* c) {
  static const ProductKernel& kernel = widest_kernel();
  // Kept, so that nothing is allocated for each product.
  static std::vector<Line> scratch;
  static std::vector<ProductPiece> joined;
  const HalfProduct halves{product.m, product.n, product.c_pitch / sizeof(float),
                           product.type == DataType::kBf16, product.accumulate};
  const std::size_t floats = kernel.scratch(halves.m, halves.n);
  scratch.resize(std::max(scratch.size(), floats / kLineFloats + 1));
  join_halves(pieces, count, joined);
  kernel.multiply(halves, joined.data(), joined.size(), reinterpret_cast<float*>(c),
                  scratch.front().floats);
}

// Sums of one row of C; products of int8 and their sums over k are exact in int32.
void multiply_int8(const MatrixProduct& product, const ProductPiece& piece, bool accumulate,
                   unsigned char* c) {
  std::vector<std::int32_t> sums(product.n);
  for (std::uint32_t i = 0; i < product.m; ++i) {
    unsigned char* const row = c + i * product.c_pitch;
    if (accumulate) {
      std::memcpy(sums.data(), row, sums.size() * sizeof(std::int32_t));
    } else {
      sums.assign(sums.size(), 0);
    }
    for (std::uint32_t l = 0; l < piece.k; ++l) {
      std::int8_t left = 0;
      std::memcpy(&left, piece.a + i * piece.a_pitch + l, 1);
      const unsigned char* const right = piece.b + l * piece.b_pitch;
      for (std::uint32_t j = 0; j < product.n; ++j) {
        const auto sum = static_cast<std::uint32_t>(sums[j]) +
                         static_cast<std::uint32_t>(left * static_cast<std::int8_t>(right[j]));
        sums[j] = static_cast<std::int32_t>(sum);
      }
    }
    std::memcpy(row, sums.data(), sums.size() * sizeof(std::int32_t));
  }
}

void multiply_floats(const MatrixProduct& product, const ProductPiece& piece, bool accumulate,
                     unsigned char* c) {
  const auto length = [](std::uint64_t value) { return static_cast<blasint>(value); };
  const auto elements = [](Bytes pitch) { return static_cast<blasint>(pitch / sizeof(float)); };
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, length(product.m), length(product.n),
              length(piece.k), 1.0F, reinterpret_cast<const float*>(piece.a),
              elements(piece.a_pitch), reinterpret_cast<const float*>(piece.b),
              elements(piece.b_pitch), accumulate ? 1.0F : 0.0F, reinterpret_cast<float*>(c),
              elements(product.c_pitch));
}

}  // namespace

void copy(const Matrix& matrix, const unsigned char* from, unsigned char* to, Bytes to_pitch,
          Bytes element, bool transposed) {
  if (!transposed) {
    for (std::uint32_t row = 0; row < matrix.rows; ++row) {
      std::memcpy(to + row * to_pitch, from + row * matrix.pitch, matrix.columns * element);
    }
  } else if (element == 1) {
    transpose<std::uint8_t>(matrix, from, to, to_pitch);
  } else if (element == 2) {
    transpose<std::uint16_t>(matrix, from, to, to_pitch);
  } else {
    transpose<std::uint32_t>(matrix, from, to, to_pitch);
  }
}

void multiply(const MatrixProduct& product, const ProductPiece* pieces, std::size_t count,
              unsigned char* c) {
  if (product.type == DataType::kFp16 || product.type == DataType::kBf16) {
    return multiply_halves(product, pieces, count, c);
  }
  bool accumulate = product.accumulate;
  for (const auto* piece = pieces; piece != pieces + count; ++piece, accumulate = true) {
    if (product.type == DataType::kInt8) {
      multiply_int8(product, *piece, accumulate, c);
    } else {
      multiply_floats(product, *piece, accumulate, c);
    }
  }
}

}  // namespace npu::model::arithmetic
