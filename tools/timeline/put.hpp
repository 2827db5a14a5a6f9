// SPDX-License-Identifier: Apache-2.0
// Text of numbers, quickly, as std::to_chars writes it: each function writes at `to`, where the
// caller has room for it, and returns the end of what it has written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "npu/base/units.hpp"
#include "tools/timeline/text_piece.hpp"

namespace npu::timeline {

constexpr std::size_t kLongestNumber = 20;
constexpr std::size_t kLongestTime = 21;

constexpr std::array<char, 200> pairs_of_digits() {  // "000102...99"
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
inline constexpr std::array<char, 200> kPairs = pairs_of_digits();

// A literal, without the 0 at its end; that is written as well, so there is room for it.
template <std::size_t N>
char* put(char* to, const char (&text)[N]) {
  std::memcpy(to, text, N);
  return to + N - 1;
}
inline char* put(char* to, std::string_view text) {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}
// Needs room for TextPiece::kMost bytes.
inline char* put(char* to, const TextPiece& piece) {
  std::memcpy(to, piece.data(), TextPiece::kMost);
  return to + piece.size();
}

inline char* put_pair(char* to, std::uint64_t value) {  // < 100, as two digits
  std::memcpy(to, kPairs.data() + 2 * value, 2);
  return to + 2;
}

inline char* put_number(char* to, std::uint64_t value) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  if (value < 100) return put_pair(to, value);
  if (value >= 10'000) {
    to = put_number(to, value / 10'000);
    value %= 10'000;
    return put_pair(put_pair(to, value / 100), value % 100);
  }
  const std::uint64_t hundreds = value / 100;
  if (hundreds < 10) {
    *to = static_cast<char>('0' + hundreds);
    return put_pair(to + 1, value % 100);
  }
  return put_pair(put_pair(to, hundreds), value % 100);
}

inline char* put_hex(char* to, std::uint64_t value) {  // 1f
  constexpr unsigned kBits = 64, kDigit = 4;
  const auto zeros = static_cast<unsigned>(__builtin_clzll(value | 1));
  for (unsigned shift = (kBits - 1 - zeros) / kDigit * kDigit;; shift -= kDigit) {
    *to++ = "0123456789abcdef"[value >> shift & 0xF];
    if (shift == 0) return to;
  }
}

// Microseconds: 12.345678. Not negative.
inline char* put_microseconds(char* to, Picoseconds time) {
  constexpr std::uint64_t kPerMicrosecond = 1'000'000;
  const auto value = static_cast<std::uint64_t>(time.count());
  to = put_number(to, value / kPerMicrosecond);
  const auto rest = static_cast<std::uint32_t>(value % kPerMicrosecond);
  *to++ = '.';
  return put_pair(put_pair(put_pair(to, rest / 10'000), rest / 100 % 100), rest % 100);
}

}  // namespace npu::timeline
