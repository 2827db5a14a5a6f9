// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/matrix.hpp"

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

// Pieces whose operands lie side by side as one, of `most` of k at most.
void join_pieces(const ProductPiece* pieces, std::size_t count, Bytes element, std::uint32_t most,
                 std::vector<ProductPiece>& joined) {
  joined.clear();
  for (const auto* piece = pieces; piece != pieces + count; ++piece) {
    if (!joined.empty()) {
      ProductPiece& last = joined.back();
      if (piece->a == last.a + element * last.k && piece->a_pitch == last.a_pitch &&
          piece->b == last.b + last.k * last.b_pitch && piece->b_pitch == last.b_pitch &&
          piece->k <= most - last.k) {
        last.k += piece->k;
        continue;
      }
    }
    ProductPiece rest = *piece;
    for (; rest.k > most; rest.k -= most, rest.a += element * most, rest.b += most * rest.b_pitch) {
      joined.push_back(rest);
      joined.back().k = most;
    }
    joined.push_back(rest);
  }
}

void run_kernel(const KernelProduct& product, const ProductPiece* pieces, std::size_t count,
                float* c) {
  static const ProductKernel& kernel = widest_kernel();
  static std::vector<Line> scratch;  // kept, so that nothing is allocated for each product
  const std::size_t floats = kernel.scratch(product.m, product.n);
  scratch.resize(std::max(scratch.size(), floats / kLineFloats + 1));
  kernel.multiply(product, pieces, count, c, scratch.front().floats);
}

void multiply_floating(const MatrixProduct& product, const ProductPiece* pieces, std::size_t count,
                       unsigned char* c) {
  static std::vector<ProductPiece> joined;
  const bool full = product.type == DataType::kFp32;
  join_pieces(pieces, count, full ? 4 : 2, UINT32_MAX, joined);
  Operand type = full ? Operand::kFloat : Operand::kHalf;
  if (product.type == DataType::kBf16) type = Operand::kBrain;
  run_kernel({product.m, product.n, product.c_pitch / sizeof(float), type, product.accumulate},
             joined.data(), joined.size(), reinterpret_cast<float*>(c));
}

// The sums of whole numbers, in floats, are C or more of it. C wraps around.
void add_sums(const MatrixProduct& product, const float* sums, bool accumulate, unsigned char* c) {
  for (std::uint32_t i = 0; i < product.m; ++i, sums += product.n, c += product.c_pitch) {
    for (std::uint32_t j = 0; j < product.n; ++j) {
      std::uint32_t before = 0;
      if (accumulate) std::memcpy(&before, c + j * sizeof before, sizeof before);
      const std::uint32_t sum =
          before + static_cast<std::uint32_t>(static_cast<std::int32_t>(sums[j]));
      std::memcpy(c + j * sizeof sum, &sum, sizeof sum);
    }
  }
}

// Sums of so many products of int8 are exact in fp32.
constexpr std::uint32_t kExactProducts = (1U << 24) / (128 * 128);

void multiply_int8(const MatrixProduct& product, const ProductPiece* pieces, std::size_t count,
                   unsigned char* c) {
  static std::vector<ProductPiece> joined;
  static std::vector<float> sums;
  join_pieces(pieces, count, 1, kExactProducts, joined);
  sums.resize(std::max<std::size_t>(sums.size(), std::size_t{product.m} * product.n));
  bool accumulate = product.accumulate;
  for (auto first = joined.begin(); first != joined.end(); accumulate = true) {
    std::uint32_t k = first->k;
    auto end = first + 1;
    for (; end != joined.end() && end->k <= kExactProducts - k; ++end) k += end->k;
    run_kernel({product.m, product.n, product.n, Operand::kInt8, false}, &*first,
               static_cast<std::size_t>(end - first), sums.data());
    add_sums(product, sums.data(), accumulate, c);
    first = end;
  }
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
  if (product.type == DataType::kInt8) return multiply_int8(product, pieces, count, c);
  multiply_floating(product, pieces, count, c);
}

}  // namespace npu::model::arithmetic
