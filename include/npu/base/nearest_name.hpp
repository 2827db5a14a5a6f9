// SPDX-License-Identifier: Apache-2.0
// The name a person probably meant.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace npu {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

// The candidate with the smallest distance, if that is at most a third of `name` (two edits are
// always allowed); empty otherwise. Capitals do not count. Ties go to the first.
inline std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestName = 128;  // nobody mistypes more than that
  if (name.empty() || name.size() > kLongestName) return {};
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  const auto in_lower_case = [](std::string_view text) {
    std::string lower(text);
    for (auto& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  };
  const std::string lower = in_lower_case(name);
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(lower, in_lower_case(candidate));
    if (distance >= best || distance >= std::max(name.size(), candidate.size())) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace npu
