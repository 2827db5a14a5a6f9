// SPDX-License-Identifier: Apache-2.0
// The first dies of a super node, behind one switch.
#pragma once

#include <algorithm>

#include "tests/system/support/machine.hpp"

namespace npu::test {

// `cards`: an even number of at most 384.
inline model::SystemConfig super_node(unsigned cards,
                                      const std::vector<std::string>& overrides = {}) {
  auto config = load("system-384x910c.yaml", overrides);
  config.cards.resize(cards);
  unsigned left = cards;
  std::vector<model::HostBridgeConfig> bridges;
  for (auto& bridge : config.host_bridges) {
    auto& slots = bridge.root_ports.front().children.front().children;
    slots.resize(std::min<std::size_t>(left, slots.size()));
    left -= static_cast<unsigned>(slots.size());
    if (!slots.empty()) bridges.push_back(std::move(bridge));
  }
  config.host_bridges = std::move(bridges);
  config.fabric.parts.resize(2);  // pairs of dies, and switches below those of the super node
  config.fabric.parts.back().count = 1;
  return config;
}

}  // namespace npu::test
