// SPDX-License-Identifier: Apache-2.0
// Products of matrices in fp32. Each sum is that of its products in the order of k, one rounding
// each, whatever the machine and however k is cut into pieces: a product of two halves is exact in
// fp32, as is one of two int8; one of two floats is fused with its sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/aicore/arithmetic/product_piece.hpp"

namespace npu::model::arithmetic {

enum class Operand : std::uint8_t { kHalf, kBrain, kInt8, kFloat };  // fp16, bf16, int8, fp32

struct KernelProduct {
  std::size_t m, n;
  std::size_t c_pitch;  // floats
  Operand type;
  bool accumulate;
};

struct ProductKernel {
  // Floats that multiply() needs for itself.
  std::size_t (*scratch)(std::size_t m, std::size_t n);
  void (*multiply)(const KernelProduct& product, const ProductPiece* pieces, std::size_t count,
                   float* c, float* scratch);
};

// That of vectors of 16, 32 or 64 bytes; null: this machine has none. 16 are always there.
const ProductKernel* product_kernel(std::size_t width);

}  // namespace npu::model::arithmetic
