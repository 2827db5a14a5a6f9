// SPDX-License-Identifier: Apache-2.0
#include "reports/number.hpp"

#include <array>
#include <utility>

namespace npu::reports {

namespace {

__extension__ using Wide = unsigned __int128;

Wide power_of_ten(unsigned exponent) {
  Wide power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

Number divide(Wide numerator, std::uint64_t denominator, unsigned decimals) {
  if (denominator == 0) return Number::scaled(0, decimals);
  const Wide value = (numerator * power_of_ten(decimals) + denominator / 2) / denominator;
  return Number::scaled(static_cast<std::int64_t>(value), decimals);
}

}  // namespace

Number Number::quotient(std::uint64_t numerator, std::uint64_t denominator, unsigned decimals) {
  return divide(numerator, denominator, decimals);
}

Number Number::percent(std::uint64_t part, std::uint64_t whole) {
  return divide(Wide{part} * 100, whole, 3);
}

Number Number::gb_per_s(Bytes bytes, Picoseconds time) {
  // 1 byte per picosecond is 1000 GB/s.
  return divide(Wide{bytes} * 1000, static_cast<std::uint64_t>(time.count()), 3);
}

std::string Number::text() const {
  const bool negative = value_ < 0;
  const auto magnitude =
      negative ? 0 - static_cast<std::uint64_t>(value_) : static_cast<std::uint64_t>(value_);
  std::string digits = std::to_string(magnitude);
  if (digits.size() <= decimals_) digits.insert(0, decimals_ + 1 - digits.size(), '0');
  if (decimals_ > 0) digits.insert(digits.size() - decimals_, 1, '.');
  return negative ? "-" + digits : digits;
}

std::string size_name(Bytes size) {
  static constexpr std::array<std::pair<unsigned, const char*>, 3> kUnits{
      {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const auto& [shift, name] : kUnits) {
    if (size >= (Bytes{1} << shift) && size % (Bytes{1} << shift) == 0) {
      return std::to_string(size >> shift) + name;
    }
  }
  return std::to_string(size) + "B";
}

}  // namespace npu::reports
