// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/grid.hpp"

#include <algorithm>

namespace npu::sweep {
namespace {

// Takes the fastest digit off `number`.
std::size_t next_digit(std::size_t& number, std::size_t values) {
  const std::size_t digit = number % values;
  number /= values;
  return digit;
}

}  // namespace

Grid::Grid(const SweepSpec& spec) : spec_(spec) {
  size_ = spec.configurations.size() * spec.seeds.size();
  for (const auto& axis : spec.grid) size_ *= axis.values.size();
  size_ *= std::max<std::size_t>(spec.list.size(), 1);
}

GridPoint Grid::point(std::size_t number) const {
  GridPoint made;
  made.number = number;
  made.seed = spec_.seeds[next_digit(number, spec_.seeds.size())];
  const std::size_t entry = next_digit(number, std::max<std::size_t>(spec_.list.size(), 1));
  for (auto axis = spec_.grid.rbegin(); axis != spec_.grid.rend(); ++axis) {
    made.assignments.push_back({axis->key, axis->values[next_digit(number, axis->values.size())]});
  }
  std::reverse(made.assignments.begin(), made.assignments.end());
  if (!spec_.list.empty()) {
    const auto& together = spec_.list[entry];
    made.assignments.insert(made.assignments.end(), together.begin(), together.end());
  }
  made.configuration = spec_.configurations[number];
  return made;
}

std::string Grid::label(const GridPoint& point) const {
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) {
    text += (text.empty() ? "" : ", ") + key + "=" + value;
  };
  if (spec_.configurations.size() > 1) add("configuration", point.configuration.text);
  for (const auto& each : point.assignments) add(each.key.text, each.value.text);
  if (spec_.seeds.size() > 1) add("seed", point.seed.text);
  return text.empty() ? point.configuration.text : text;
}

}  // namespace npu::sweep
