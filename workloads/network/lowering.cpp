// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/lowering.hpp"
#include "workloads/network/arithmetic.hpp"
#include "workloads/network/moves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::network {
namespace {

const std::vector<LoweringRow>* const kGroups[] = {
    &kElementLowerings,   &kFunctionLowerings, &kCastLowerings,    &kProductLowerings,
    &kAxisLowerings,      &kFillLowerings,     &kScatterLowerings, &kReductionLowerings,
    &kNormLowerings,      &kLossLowerings,     &kWindowLowerings,  &kResizeLowerings,
    &kRecurrentLowerings, &kSumLowerings,      &kSignalLowerings};

}  // namespace

std::size_t Lowering::axis(std::int64_t axis, std::size_t axes) const {
  const auto count = static_cast<std::int64_t>(axes);
  if (axis < -count || axis >= count) {
    steps.refuse(fmt::format("axis {} of {}", axis, axes));
    return 0;
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::int64_t> Lowering::integers(std::size_t input,
                                             const std::string& attribute) const {
  if (!has(input)) return node.attribute(attribute, std::vector<std::int64_t>{});
  const auto& value = inputs[input];
  const auto tensor = steps.download(value);
  auto found = integers_of(tensor);
  if (found.size() != value.elements()) {
    steps.refuse(fmt::format("integers of {}", row_of(value.type).name));
  }
  return found;
}

const LoweringRow* find_lowering(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const auto* group : kGroups) {
    for (const auto& row : *group) {
      if (row.op == node.op) return &row;
    }
  }
  return nullptr;
}

const FusedRow* find_fused(const Node& node) {
  const auto found = std::find_if(kFusedLowerings.begin(), kFusedLowerings.end(),
                                  [&node](const FusedRow& row) { return row.op == node.op; });
  return node.parts.empty() || found == kFusedLowerings.end() ? nullptr : &*found;
}

std::vector<std::string_view> lowered_operators() {
  std::vector<std::string_view> names;
  for (const auto* group : kGroups) {
    for (const auto& row : *group) names.push_back(row.op);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace npu::network
