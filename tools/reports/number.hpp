// SPDX-License-Identifier: Apache-2.0
// A decimal number with a fixed number of digits. Reports hold these instead of floating point, so
// that parts printed add up to the total printed and two runs print the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"

namespace npu::reports {

class Number {
 public:
  constexpr Number() = default;
  // value * 10^-decimals; decimals 0..9.
  static constexpr Number scaled(std::int64_t value, unsigned decimals) {
    return Number(value, decimals);
  }
  static constexpr Number integer(std::int64_t value) { return Number(value, 0); }
  static constexpr Number count(std::uint64_t value) {
    return Number(static_cast<std::int64_t>(value), 0);
  }
  static constexpr Number nanoseconds(Picoseconds time) { return Number(time.count(), 3); }
  static constexpr Number microseconds(Picoseconds time) { return Number(time.count(), 6); }
  // numerator / denominator, rounded half up; 0 if the denominator is 0.
  static Number quotient(std::uint64_t numerator, std::uint64_t denominator, unsigned decimals);
  // 100 * part / whole with three decimals.
  static Number percent(std::uint64_t part, std::uint64_t whole);
  // 10^9 bytes per second, three decimals.
  static Number gb_per_s(Bytes bytes, Picoseconds time);

  // Of what text() writes; empty for anything else, more than 9 decimals or too large a number.
  static std::optional<Number> parse(std::string_view text);

  std::string text() const;  // "-12.034": exactly `decimals` digits after the point
  constexpr std::int64_t value() const { return value_; }
  constexpr unsigned decimals() const { return decimals_; }

 private:
  constexpr Number(std::int64_t value, unsigned decimals) : value_(value), decimals_(decimals) {}
  std::int64_t value_ = 0;
  unsigned decimals_ = 0;
};

// "64B", "4KiB", "1MiB", "1GiB", as metric names spell sizes; "3000B" if no unit divides it.
std::string size_name(Bytes size);

}  // namespace npu::reports
