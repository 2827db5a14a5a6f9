// SPDX-License-Identifier: Apache-2.0
// What the kernels of a multiplication are told.
#pragma once

#include <cstdint>

#include "npu/platform/aicore_port.hpp"

namespace npu::kernels::matmul {

enum class Phase : std::uint64_t {
  kProduct,  // on cubes
  kResult,   // on vector cores: C from what the cubes left in the workspace
  kZeros,    // on vector cores: C of sums over nothing
};

// Tiles in L1; in L0 they are as high and wide, and as deep as l0_k.
struct Tiling {
  std::uint32_t m = 0, n = 0, k = 0, l0_k = 0;
  std::uint32_t swizzle_offset = 3, swizzle_direction = 0;
};

struct Work {
  // A library's plain product has all from its arguments.
  static constexpr platform::SetUp kSetUp{};
  std::uint32_t m = 0, n = 0, k = 0, batch = 1;
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint64_t lda = 0, ldb = 0, ldc = 0;  // elements, not 0
  std::uint64_t stride_a = 0, stride_b = 0, stride_c = 0;
  std::uint64_t bias = 0, stride_bias = 0;  // of columns of C; 0: none
  Tiling tiling;
};

}  // namespace npu::kernels::matmul
