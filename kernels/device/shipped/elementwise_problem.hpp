// SPDX-License-Identifier: Apache-2.0
// An elementwise operation as its kernel is told of it.
#pragma once

#include <cstdint>

#include "npu/platform/aicore_port.hpp"

namespace npu::kernels::vector {

// to[i] = a[i] op b[i], or a[i] op scalar. Block j of n works on elements [j c / n, (j + 1) c / n),
// in whole 32 B.
struct Elementwise {
  std::uint64_t to = 0, a = 0, b = 0;  // device addresses; b: 0 unless the operation has it
  std::uint64_t count = 0;
  platform::VectorOp op = platform::VectorOp::kAdd;
  platform::DataType type = platform::DataType::kFp32;
  float scalar = 0;
};

inline constexpr unsigned kWords = 6;

}  // namespace npu::kernels::vector
