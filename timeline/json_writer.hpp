// SPDX-License-Identifier: Apache-2.0
// The text of trace events, quickly: a timeline has millions of them. Strings are escaped by
// nlohmann-json; numbers are integers, and times decimals with six places, so that a picosecond is
// a unit in the last place.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"

namespace npu::timeline {

class JsonWriter {
 public:
  void raw(std::string_view text) { text_.append(text.data(), text.data() + text.size()); }
  void number(std::uint64_t value) {
    const fmt::format_int digits(value);
    text_.append(digits.data(), digits.data() + digits.size());
  }
  // Microseconds: "12.345678". Not negative.
  void microseconds(Picoseconds time) {
    const auto value = static_cast<std::uint64_t>(time.count());
    number(value / kPerMicrosecond);
    auto rest = static_cast<unsigned>(value % kPerMicrosecond);
    std::array<char, 7> digits{'.'};
    for (std::size_t i = 6; i > 0; --i, rest /= 10) digits[i] = static_cast<char>('0' + rest % 10);
    text_.append(digits.begin(), digits.end());
  }
  void string(std::string_view text);  // with its quotes

  std::string_view text() const { return {text_.data(), text_.size()}; }
  std::size_t size() const { return text_.size(); }
  void clear() { text_.clear(); }

 private:
  static constexpr std::uint64_t kPerMicrosecond = 1'000'000;
  fmt::basic_memory_buffer<char, 1 << 16> text_;
};

}  // namespace npu::timeline
