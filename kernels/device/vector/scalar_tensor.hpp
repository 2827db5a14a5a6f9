// SPDX-License-Identifier: Apache-2.0
// A tensor of one real, which the scalar unit reads.
#pragma once

#include <cmath>
#include <cstring>

#include "npu/aicore/kernel.hpp"

namespace npu::kernels::vector {

// From the bits of fp16 to those of fp32.
inline std::uint32_t widened(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000) << 16, size = half & 0x7FFF;
  if (size >= 0x7C00) return sign | 0x7F80'0000 | (size & 0x3FF) << 13;
  if (size >= 0x0400) return sign | ((size << 13) + (112U << 23));
  const float small = std::ldexp(static_cast<float>(size), -24);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &small, sizeof bits);
  return sign | bits;
}

// Beside its load, what a kernel that the library generates takes for a number that is a tensor, on
// cores that compute in UB. The clocks are a fit (docs/accuracy/fitted.csv); what takes them is not
// known, and that it goes by the number of such tensors is a hypothesis (kernel-times.md K6).
inline constexpr unsigned kNumberClocks = 3800;

inline void prepare_numbers(aicore::AicorePort& port, unsigned numbers) {
  if (!port.has_vector_functions()) port.scalar(numbers * kNumberClocks);
}

inline float load_real(aicore::AicorePort& port, std::uint64_t address, platform::DataType type) {
  prepare_numbers(port, 1);
  port.clean_invalidate(address / abi::kCacheLine * abi::kCacheLine);
  auto bits = static_cast<std::uint32_t>(
      port.load(address, static_cast<unsigned>(platform::bytes_of(type))));
  if (type == platform::DataType::kFp16) bits = widened(bits);
  if (type == platform::DataType::kBf16) bits <<= 16;
  float real = 0;
  std::memcpy(&real, &bits, sizeof real);
  return real;
}

}  // namespace npu::kernels::vector
