// SPDX-License-Identifier: Apache-2.0
#include "apps/demo/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace npu::demo {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// One multiplication and two shifts a word: tens of MiB are made in a guest without hardware
// virtualisation.
std::uint64_t word_of(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t value = (seed + index + 1) * 0x9E3779B97F4A7C15ULL;
  value ^= value >> 29;
  return value * 0xBF58476D1CE4E5B9ULL ^ value >> 32;
}

Status differs(std::string_view what, std::size_t first, std::size_t count, std::size_t size,
               std::byte found, std::byte expected) {
  return fail(ErrorCode::kBadDevice,
              fmt::format("{}: {} of {} bytes differ, the first at {:#x}: {:#04x}, not {:#04x}",
                          what, count, size, first, static_cast<unsigned>(found),
                          static_cast<unsigned>(expected)));
}

// `expected(offset)` gives the byte at an offset. Called when something is known to differ.
template <class Expected>
Status explain(ConstByteSpan bytes, std::string_view what, const Expected& expected) {
  std::size_t first = bytes.size, count = 0;
  for (std::size_t i = 0; i < bytes.size; ++i) {
    if (bytes.data[i] == expected(i)) continue;
    first = std::min(first, i);
    ++count;
  }
  if (count == 0) return {};
  return differs(what, first, count, bytes.size, bytes.data[first], expected(first));
}

}  // namespace

void fill_pattern(ByteSpan bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size; at += kWord) {
    const std::uint64_t word = word_of(seed, at / kWord);
    std::memcpy(bytes.data + at, &word, std::min(kWord, bytes.size - at));
  }
}

Status check_pattern(ConstByteSpan bytes, std::uint64_t seed, std::string_view what) {
  bool equal = true;
  for (std::size_t at = 0; at < bytes.size && equal; at += kWord) {
    const std::uint64_t word = word_of(seed, at / kWord);
    equal = std::memcmp(bytes.data + at, &word, std::min(kWord, bytes.size - at)) == 0;
  }
  if (equal) return {};
  return explain(bytes, what, [seed](std::size_t i) {
    return static_cast<std::byte>(word_of(seed, i / kWord) >> 8 * (i % kWord));
  });
}

void fill_value(ByteSpan bytes, unsigned value) {
  std::fill_n(bytes.data, bytes.size, static_cast<std::byte>(value));
}

Status check_value(ConstByteSpan bytes, unsigned value, std::string_view what) {
  return explain(bytes, what, [value](std::size_t) { return static_cast<std::byte>(value); });
}

}  // namespace npu::demo
