// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/number.hpp"

#include <array>
#include <utility>

#include "npu/base/text.hpp"

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

std::optional<Number> Number::parse(std::string_view text) {
  const auto point = text.find('.');
  const std::size_t decimals = point == std::string_view::npos ? 0 : text.size() - point - 1;
  if (decimals > 9 || (point != std::string_view::npos && decimals == 0)) return std::nullopt;
  std::string digits(text);
  if (point != std::string_view::npos) digits.erase(point, 1);
  const auto value = read_number<std::int64_t>(digits);
  if (!value) return std::nullopt;
  const Number number = scaled(*value, static_cast<unsigned>(decimals));
  // What it would not print itself ("007", "-0", ".5") is no number of a report.
  if (number.text() != text) return std::nullopt;
  return number;
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
