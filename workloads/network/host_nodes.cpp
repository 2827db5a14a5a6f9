// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/host_nodes.hpp"

#include <fmt/format.h>

#include "workloads/network/lowering.hpp"

namespace npu::network {

std::size_t HostNode::axis(std::int64_t axis, std::size_t axes) {
  const auto count = static_cast<std::int64_t>(axes);
  if (axis < -count || axis >= count) {
    refuse(fmt::format("axis {} of {}", axis, axes));
    return 0;
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

const HostRow* find_on_host(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  for (const auto* group : {&kHostPlaces, &kHostSums}) {
    for (const auto& row : *group) {
      if (row.op == node.op) return &row;
    }
  }
  return nullptr;
}

// Operators that scatter are mapped, but sums of what meets in one place are not.
bool is_unmapped(const Node& node) {
  if (find_fused(node) != nullptr) return false;
  if (find_lowering(node) == nullptr) return true;
  return find_on_host(node) != nullptr &&
         node.attribute("reduction", std::string("none")) != "none";
}

std::size_t place_on_host(Graph& graph) {
  std::size_t count = 0;
  for (auto& node : graph.nodes) {
    node.on_host = is_unmapped(node) && find_on_host(node) != nullptr;
    if (node.on_host) ++count;
  }
  return count;
}

}  // namespace npu::network
