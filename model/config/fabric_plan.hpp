// SPDX-License-Identifier: Apache-2.0
// The single nodes and links that the parts of a fabric (fabric_config.hpp) stand for.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "model/config/checks.hpp"
#include "model/config/fabric_config.hpp"

namespace npu::model {

enum class FabricNodeKind { kCard, kSwitch, kNic };

// Cards are where ways begin and end, the others where they pass.
struct FabricNode {
  std::string name;
  FabricNodeKind kind = FabricNodeKind::kCard;
  Picoseconds latency{};
  FabricForwarding forwarding = FabricForwarding::kStore;

  bool passes() const { return kind != FabricNodeKind::kCard; }
};

struct FabricEdge {
  std::string name;           // "hccs0_1" between two cards, else "fabric_card0_l1sw0"
  unsigned low, high;         // nodes
  FabricLinkConfig from_low;  // what the node at this end sends with, and its receiver
  FabricLinkConfig from_high;
};

struct FabricPlan {
  std::vector<FabricNode> nodes;  // the cards first, by index
  std::vector<FabricEdge> links;  // no two between the same nodes

  // Of the link between two nodes.
  std::optional<std::size_t> between(unsigned a, unsigned b) const;
  std::optional<std::size_t> link_named(const std::string& name) const;
};

// Errors: a node that nobody has, or two have; a node with itself or twice in a list; two links
// between the same nodes; groups that do not come out even; a card or a passing node without a
// link; a buffer smaller than one message; more cards than HCCS registers have bits for.
tl::expected<FabricPlan, BrokenRule> plan_fabric(const SystemConfig& system);

}  // namespace npu::model
