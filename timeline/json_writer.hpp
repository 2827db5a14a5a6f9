// SPDX-License-Identifier: Apache-2.0
// The text of trace events, quickly: a timeline has millions of them. Strings are escaped by
// nlohmann-json; numbers are integers, and times decimals with six places, so that a picosecond is
// a unit in the last place.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "npu/base/units.hpp"
#include "timeline/text_piece.hpp"

namespace npu::timeline {

constexpr std::array<char, 200> pairs_of_digits() {  // "000102...99"
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}

class JsonWriter {
 public:
  void raw(std::string_view text) {
    if (text.empty()) return;
    char* const to = room(text.size());
    std::memcpy(to, text.data(), text.size());
    size_ += text.size();
  }
  // A literal: its length is known when this is compiled.
  template <std::size_t N>
  void raw(const char (&text)[N]) {
    std::memcpy(room(N), text, N);
    size_ += N - 1;
  }
  void raw(const TextPiece& piece) {
    std::memcpy(room(TextPiece::kMost), piece.data(), TextPiece::kMost);
    size_ += piece.size();
  }
  void number(std::uint64_t value) {
    if (value >= 10) return digits(value, 10);
    *room(1) = static_cast<char>('0' + value);
    ++size_;
  }
  void hex(std::uint64_t value) {  // 0x1f
    raw("0x");
    hex_digits(value);
  }
  void hex_digits(std::uint64_t value) { digits(value, 16); }
  // Microseconds: 12.345678. Not negative.
  void microseconds(Picoseconds time) {
    constexpr std::uint64_t kPerMicrosecond = 1'000'000;
    const auto value = static_cast<std::uint64_t>(time.count());
    number(value / kPerMicrosecond);
    const auto rest = static_cast<std::uint32_t>(value % kPerMicrosecond);
    char* const to = room(7);
    to[0] = '.';
    pair(to + 1, rest / 10'000);
    pair(to + 3, rest / 100 % 100);
    pair(to + 5, rest % 100);
    size_ += 7;
  }
  void string(std::string_view text);  // escaped, with its quotes

  // What has been written last, as long as nothing else has: overwrites it.
  void replace(std::size_t before_end, char by) { text_[size_ - before_end] = by; }
  void drop_last() { --size_; }
  char last() const { return text_[size_ - 1]; }

  std::string_view text() const { return {text_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kLongestNumber = 20;
  static constexpr std::array<char, 200> kPairs = pairs_of_digits();

  static void pair(char* to, std::uint32_t value) {  // < 100, as two digits
    std::memcpy(to, kPairs.data() + std::size_t{2} * value, 2);
  }
  char* room(std::size_t bytes) {
    if (size_ + bytes > text_.size()) grow(bytes);
    return text_.data() + size_;
  }
  void grow(std::size_t bytes);
  void digits(std::uint64_t value, int base) {
    char* const to = room(kLongestNumber);
    size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value, base).ptr - to);
  }

  std::vector<char> text_ = std::vector<char>(std::size_t{1} << 17);
  std::size_t size_ = 0;
};

}  // namespace npu::timeline
