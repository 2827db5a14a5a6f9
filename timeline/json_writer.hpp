// SPDX-License-Identifier: Apache-2.0
// The text of trace events, quickly: a timeline has millions of them. Strings are escaped by
// nlohmann-json; numbers are integers, and times decimals with six places, so that a picosecond is
// a unit in the last place.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::timeline {

class JsonWriter {
 public:
  void raw(std::string_view text) {
    if (text.empty()) return;
    char* const to = room(text.size());
    std::memcpy(to, text.data(), text.size());
    size_ += text.size();
  }
  void number(std::uint64_t value) { digits(value, 10); }
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
    auto rest = static_cast<unsigned>(value % kPerMicrosecond);
    char* const to = room(7);
    to[0] = '.';
    for (std::size_t i = 6; i > 0; --i, rest /= 10) to[i] = static_cast<char>('0' + rest % 10);
    size_ += 7;
  }
  void string(std::string_view text);  // escaped, with its quotes

  std::string_view text() const { return {text_.data(), size_}; }
  std::size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kLongestNumber = 20;

  char* room(std::size_t bytes) {
    if (size_ + bytes > text_.size()) text_.resize(2 * (size_ + bytes));
    return text_.data() + size_;
  }
  void digits(std::uint64_t value, int base) {
    char* const to = room(kLongestNumber);
    size_ += static_cast<std::size_t>(std::to_chars(to, to + kLongestNumber, value, base).ptr - to);
  }

  std::vector<char> text_ = std::vector<char>(std::size_t{1} << 17);
  std::size_t size_ = 0;
};

}  // namespace npu::timeline
