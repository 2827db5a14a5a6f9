// SPDX-License-Identifier: Apache-2.0
// What MTE1 and the cube do to bytes.
#pragma once

#include "model/aicore/arithmetic/product_piece.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model::arithmetic {

struct Matrix {
  std::uint32_t rows, columns;
  Bytes pitch;  // from row to row
};

// Row by row, or transposed, to rows at `to_pitch`.
void copy(const Matrix& matrix, const unsigned char* from, unsigned char* to, Bytes to_pitch,
          Bytes element, bool transpose);

struct MatrixProduct {
  std::uint32_t m, n;
  Bytes c_pitch;
  platform::DataType type;
  bool accumulate;
};

// C (+)= A x B, one piece of k after the other: fp16, bf16 and fp32 in fp32, one product after the
// other, which gives the same bits on every machine and however k is cut; int8 exactly in int32. C
// is aligned.
void multiply(const MatrixProduct& product, const ProductPiece* pieces, std::size_t count,
              unsigned char* c);

}  // namespace npu::model::arithmetic
