// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/parameter_text.hpp"

#include <array>
#include <utility>

#include "npu/base/checked.hpp"
#include "npu/base/text.hpp"

namespace npu::workloads {

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t comma = text.find(',', start);
    parts.emplace_back(text.substr(start, comma - start));
    if (comma == std::string_view::npos) return parts;
    start = comma + 1;
  }
}

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  return read_number<std::uint64_t>(text);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, unsigned>, 5> kUnits{
      {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}};
  unsigned shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (text.size() > unit.size() && text.substr(text.size() - unit.size()) == unit) {
      text.remove_suffix(unit.size());
      shift = bits;
      break;
    }
  }
  if (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto count = parse_integer(text);
  if (!count) return std::nullopt;
  return checked_mul(*count, std::uint64_t{1} << shift);
}

std::optional<std::uint64_t> parse_flag(std::string_view text) {
  for (const auto* yes : {"on", "true", "yes", "1"}) {
    if (text == yes) return 1;
  }
  for (const auto* no : {"off", "false", "no", "0"}) {
    if (text == no) return 0;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> parse_range(
    std::string_view text, std::optional<std::uint64_t> (*parse_one)(std::string_view)) {
  const std::size_t dots = text.find("..");
  const auto first = parse_one(text.substr(0, dots));
  if (!first) return {};
  if (dots == std::string_view::npos) return {*first};
  const auto last = parse_one(text.substr(dots + 2));
  if (!last || *first == 0 || *last < *first) return {};
  std::vector<std::uint64_t> values;
  for (std::optional<std::uint64_t> v = first; v && *v <= *last; v = checked_mul(*v, 2)) {
    values.push_back(*v);
  }
  if (values.back() != *last) values.push_back(*last);
  return values;
}

}  // namespace npu::workloads
