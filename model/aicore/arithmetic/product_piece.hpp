// SPDX-License-Identifier: Apache-2.0
// A part of a product over k: m x k of A and k x n of B.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::model::arithmetic {

struct ProductPiece {
  const unsigned char *a, *b;
  std::size_t a_pitch, b_pitch;  // bytes from row to row
  std::uint32_t k;
};

}  // namespace npu::model::arithmetic
