// SPDX-License-Identifier: Apache-2.0
// An elementwise operation as its kernel is told of it.
#pragma once

#include <array>
#include <cstring>

#include "npu/aicore/kernel.hpp"

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

inline std::array<std::uint64_t, kWords> to_words(const Elementwise& e) {
  std::uint32_t scalar = 0;
  std::memcpy(&scalar, &e.scalar, sizeof scalar);
  const auto kind = static_cast<std::uint64_t>(e.op) << 32 | static_cast<std::uint64_t>(e.type);
  return {e.to, e.a, e.b, e.count, kind, scalar};
}

inline Elementwise from_words(const std::array<std::uint64_t, kWords>& words) {
  Elementwise e;
  e.to = words[0];
  e.a = words[1];
  e.b = words[2];
  e.count = words[3];
  e.op = aicore::enumerator<platform::VectorOp>(words[4] >> 32, platform::kVectorOps);
  e.type = aicore::data_type(words[4] & 0xFFFF'FFFF);
  const auto scalar = static_cast<std::uint32_t>(words[5]);
  std::memcpy(&e.scalar, &scalar, sizeof e.scalar);
  return e;
}

inline bool valid(const Elementwise& e) {
  return static_cast<unsigned>(e.op) < platform::kVectorOps && platform::bytes_of(e.type) != 0 &&
         e.count <= aicore::kMostElements;
}

}  // namespace npu::kernels::vector
