// SPDX-License-Identifier: Apache-2.0
// What MTE1 and the cube do to bytes.
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

struct Matrix {
  std::uint32_t rows, columns;
  Bytes pitch;  // from row to row
};

// Row by row, or transposed, to rows at `to_pitch`.
void copy(const Matrix& matrix, const unsigned char* from, unsigned char* to, Bytes to_pitch,
          Bytes element, bool transpose);

struct Product {
  std::uint32_t m, k, n;
  Bytes a_pitch, b_pitch, c_pitch;
  platform::DataType type;
  bool accumulate;
};

// C (+)= A x B: fp16, bf16 and fp32 in fp32, int8 exactly in int32.
void multiply(const Product& product, const unsigned char* a, const unsigned char* b,
              unsigned char* c);

}  // namespace npu::model::arithmetic
