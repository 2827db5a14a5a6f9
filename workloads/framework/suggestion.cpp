// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/suggestion.hpp"

#include "npu/base/nearest_name.hpp"

namespace npu::workloads {

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  if (const auto nearest = nearest_name(name, candidates); !nearest.empty()) {
    return "; did you mean '" + nearest + "'?";
  }
  std::string known;
  for (const auto& candidate : candidates) known += (known.empty() ? "" : ", ") + candidate;
  return known.empty() ? "" : "; known: " + known;
}

}  // namespace npu::workloads
