// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes from outside, which may overflow.
#pragma once

#include <cstdint>
#include <optional>

namespace npu {

constexpr bool is_power_of_two(std::uint64_t v) {
  return v != 0 && (v & (v - 1)) == 0;
}

constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  if (a > UINT64_MAX - b) return std::nullopt;
  return a + b;
}

constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > UINT64_MAX / b) return std::nullopt;
  return a * b;
}

// `alignment` must be a power of two.
constexpr std::uint64_t align_down(std::uint64_t v, std::uint64_t alignment) {
  return v & ~(alignment - 1);
}

constexpr std::optional<std::uint64_t> checked_align_up(std::uint64_t v, std::uint64_t alignment) {
  const auto sum = checked_add(v, alignment - 1);
  if (!sum) return std::nullopt;
  return align_down(*sum, alignment);
}

constexpr bool is_aligned(std::uint64_t v, std::uint64_t alignment) {
  return (v & (alignment - 1)) == 0;
}

// True if [offset, offset + size) lies in [0, limit); never overflows.
constexpr bool range_fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return size <= limit && offset <= limit - size;
}

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

// floor(log2(v)); v must not be 0.
constexpr unsigned floor_log2(std::uint64_t v) {
  return 63U - static_cast<unsigned>(__builtin_clzll(v));
}

constexpr unsigned ceil_log2(std::uint64_t v) {
  return v <= 1 ? 0 : floor_log2(v - 1) + 1;
}

}  // namespace npu
