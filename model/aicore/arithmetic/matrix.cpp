// SPDX-License-Identifier: Apache-2.0
#include "model/aicore/arithmetic/matrix.hpp"

#include <cblas.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "model/aicore/arithmetic/convert.hpp"

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

// Rows of `columns` elements, dense, as floats.
void floats(DataType type, const unsigned char* from, Bytes pitch, std::uint32_t rows,
            std::uint32_t columns, std::vector<float>& to) {
  to.resize(std::size_t{rows} * columns);
  for (std::uint32_t row = 0; row < rows; ++row) {
    to_float(type, from + row * pitch, to.data() + std::size_t{row} * columns, columns);
  }
}

// Sums of one row of C; products of int8 and their sums over k are exact in int32.
void multiply_int8(const Product& product, const unsigned char* a, const unsigned char* b,
                   unsigned char* c) {
  std::vector<std::int32_t> sums(product.n);
  for (std::uint32_t i = 0; i < product.m; ++i) {
    unsigned char* const row = c + i * product.c_pitch;
    if (product.accumulate) {
      std::memcpy(sums.data(), row, sums.size() * sizeof(std::int32_t));
    } else {
      sums.assign(sums.size(), 0);
    }
    for (std::uint32_t l = 0; l < product.k; ++l) {
      std::int8_t left = 0;
      std::memcpy(&left, a + i * product.a_pitch + l, 1);
      const unsigned char* const right = b + l * product.b_pitch;
      for (std::uint32_t j = 0; j < product.n; ++j) {
        const auto sum = static_cast<std::uint32_t>(sums[j]) +
                         static_cast<std::uint32_t>(left * static_cast<std::int8_t>(right[j]));
        sums[j] = static_cast<std::int32_t>(sum);
      }
    }
    std::memcpy(row, sums.data(), sums.size() * sizeof(std::int32_t));
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

void multiply(const Product& product, const unsigned char* a, const unsigned char* b,
              unsigned char* c) {
  if (product.type == DataType::kInt8) return multiply_int8(product, a, b, c);
  static std::vector<float> left, right;  // kept, so that nothing is allocated for each product
  floats(product.type, a, product.a_pitch, product.m, product.k, left);
  floats(product.type, b, product.b_pitch, product.k, product.n, right);
  const auto length = [](std::uint64_t value) { return static_cast<blasint>(value); };
  // Buffers and offsets are aligned to 32 B.
  auto* const sums = reinterpret_cast<float*>(c);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, length(product.m), length(product.n),
              length(product.k), 1.0F, left.data(), length(product.k), right.data(),
              length(product.n), product.accumulate ? 1.0F : 0.0F, sums,
              length(product.c_pitch / sizeof(float)));
}

}  // namespace npu::model::arithmetic
