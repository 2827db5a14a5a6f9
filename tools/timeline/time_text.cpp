// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/time_text.hpp"

#include <algorithm>
#include <array>

#include "npu/base/text.hpp"

namespace npu::timeline {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t digits;  // of a picosecond: 1 s has 12
};
constexpr std::array<Unit, 5> kUnits{{{"ps", 0}, {"ns", 3}, {"us", 6}, {"ms", 9}, {"s", 12}}};

// Longer than any run: 100 days.
constexpr std::uint64_t kMost = 8'640'000'000'000'000'000;

}  // namespace

std::optional<Picoseconds> parse_time(std::string_view text) {
  const auto number_end = text.find_first_not_of("0123456789.");
  if (number_end == std::string_view::npos || number_end == 0) return std::nullopt;
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& each) {
    return each.name == text.substr(number_end);
  });
  if (unit == kUnits.end()) return std::nullopt;
  const std::string_view number = text.substr(0, number_end);
  const auto point = number.find('.');
  std::string digits(number.substr(0, point));
  std::string_view rest = point == std::string_view::npos ? "" : number.substr(point + 1);
  if (digits.empty() || rest.find('.') != std::string_view::npos) return std::nullopt;
  while (!rest.empty() && rest.back() == '0') rest.remove_suffix(1);
  if (rest.size() > unit->digits) return std::nullopt;
  digits.append(rest).append(unit->digits - rest.size(), '0');
  const auto value = read_number<std::uint64_t>(digits);
  if (!value || *value > kMost) return std::nullopt;
  return Picoseconds(static_cast<std::int64_t>(*value));
}

std::string exact_time_text(Picoseconds time) {
  const Unit* unit = kUnits.data();
  std::int64_t count = time.count();
  for (; count != 0 && count % 1000 == 0 && unit + 1 != kUnits.data() + kUnits.size(); ++unit) {
    count /= 1000;
  }
  return std::to_string(count) + std::string(unit->name);
}

}  // namespace npu::timeline
