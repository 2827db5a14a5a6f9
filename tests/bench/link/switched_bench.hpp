// SPDX-License-Identifier: Apache-2.0
// Fabrics with switches, of links like those between the bench's cards.
#pragma once

#include "tests/bench/link/link_bench.hpp"

namespace npu::test {

inline constexpr SimTime kLatency = 30'000;

// Part of `form`, without names.
inline model::FabricPart fabric_part(model::FabricForm form) {
  const auto hccs = link_chip_config().hccs;
  model::FabricPart part;
  part.form = form;
  part.latency = 30_ns;
  part.link = {hccs.rate, hccs.packet_payload, hccs.packet_overhead, hccs.propagation,
               hccs.receive_buffer};
  return part;
}

inline model::FabricPart switches(const std::string& name, unsigned count,
                                  const std::vector<std::string>& nodes) {
  auto part = fabric_part(model::FabricForm::kSwitches);
  part.name = name;
  part.count = count;
  part.nodes = nodes;
  return part;
}

// All cards at one switch, "sw0".
inline model::FabricConfig star(model::FabricForwarding forwarding) {
  model::FabricConfig fabric;
  fabric.parts.push_back(switches("sw", 1, {}));
  fabric.parts.back().forwarding = forwarding;
  return fabric;
}

// Two cards, each at a switch of its own, "a0" and "a1", and two more between these, "b0" and "b1".
inline model::FabricConfig two_ways() {
  model::FabricConfig fabric;
  fabric.parts.push_back(switches("a", 2, {}));
  fabric.parts.push_back(switches("b", 2, {"a0", "a1"}));
  fabric.parts.back().attach = model::FabricAttach::kEverySwitch;
  return fabric;
}

}  // namespace npu::test
