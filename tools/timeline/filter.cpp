// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/filter.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "npu/base/shortened.hpp"

namespace npu::timeline {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t digits;  // of a picosecond: 1 s has 12
};
constexpr std::array<Unit, 5> kUnits{{{"ps", 0}, {"ns", 3}, {"us", 6}, {"ms", 9}, {"s", 12}}};

// Longer than any run: 100 days.
constexpr std::uint64_t kMost = 8'640'000'000'000'000'000;

// Decimal digits, perhaps a point among them, and a unit.
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
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || stop != digits.data() + digits.size() || value > kMost) {
    return std::nullopt;
  }
  return Picoseconds(static_cast<std::int64_t>(value));
}

bool is_like(const std::string& pattern, const platform::ActivityRow& row) {
  return matches(pattern, row.name) || matches(pattern, platform::to_string(row.category));
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  // Where the last `*` was, and how much of the text it stands for.
  std::size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Status Filter::set_window(const std::string& text) {
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidArgument,
                "found '" + shortened(text) +
                    "'; allowed: FROM..TO, FROM.. or ..TO with FROM before TO, such as "
                    "10us..2.5ms; units ps, ns, us, ms, s");
  };
  const auto dots = text.find("..");
  if (dots == std::string::npos || text.size() == 2) return wrong();
  if (dots != 0) {
    const auto from = parse_time(std::string_view(text).substr(0, dots));
    if (!from) return wrong();
    begin = Instant(*from);
  }
  if (dots + 2 != text.size()) {
    const auto to = parse_time(std::string_view(text).substr(dots + 2));
    if (!to) return wrong();
    end = Instant(*to);
  }
  if (begin >= end) return wrong();
  return {};
}

bool Filter::covers(std::string_view track, platform::Activity activity) const {
  return units.empty() || std::any_of(units.begin(), units.end(), [&](const std::string& pattern) {
           return matches(pattern, track) || is_like(pattern, platform::row_of(activity));
         });
}

std::string Filter::unknown_unit(const std::vector<std::string>& tracks) const {
  const auto unknown = std::find_if(units.begin(), units.end(), [&](const std::string& pattern) {
    return std::none_of(tracks.begin(), tracks.end(),
                        [&](const std::string& track) { return matches(pattern, track); }) &&
           std::none_of(platform::kActivityTable.begin(), platform::kActivityTable.end(),
                        [&](const auto& row) { return is_like(pattern, row); });
  });
  return unknown == units.end() ? std::string() : *unknown;
}

bool Filter::has_cause(std::uint64_t cause) const {
  return std::find(causes.begin(), causes.end(), cause) != causes.end();
}

}  // namespace npu::timeline
