// SPDX-License-Identifier: Apache-2.0
#include "model/link/fabric_routes.hpp"

namespace npu::model {

FabricRoutes::FabricRoutes(const FabricPlan& plan, FabricRouting routing, unsigned cards)
    : plan_(plan),
      routing_(routing),
      up_(plan.links.size(), true),
      neighbours_(plan.nodes.size()),
      distance_(cards) {
  for (unsigned i = 0; i < plan.links.size(); ++i) {
    const auto& link = plan.links[i];
    neighbours_[link.low].push_back({link.high, {i, 0}});
    neighbours_[link.high].push_back({link.low, {i, 1}});
  }
  measure();
}

void FabricRoutes::set_up(std::size_t link, bool up) {
  if (up_[link] == up) return;
  up_[link] = up;
  measure();
}

void FabricRoutes::measure() {
  for (unsigned card = 0; card < distance_.size(); ++card) measure_to(card);
}

// Breadth first from the card: what it reaches reaches it.
void FabricRoutes::measure_to(unsigned card) {
  auto& distance = distance_[card];
  distance.assign(plan_.nodes.size(), kFar);
  distance[card] = 0;
  std::vector<unsigned> found{card};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const unsigned node = found[i];
    if (node != card && !plan_.nodes[node].passes()) continue;
    if (distance[node] == kMostLinks) continue;
    for (const auto& next : neighbours_[node]) {
      if (!up_[next.step.link] || distance[next.node] != kFar) continue;
      distance[next.node] = distance[node] + 1;
      found.push_back(next.node);
    }
  }
}

// A number that spreads, and is the same on any machine (the finalizer of SplitMix64).
std::size_t FabricRoutes::choice(unsigned from, unsigned to, unsigned flow, unsigned node) const {
  if (routing_ == FabricRouting::kTable) return to;
  std::uint64_t hash =
      std::uint64_t{from} << 48 | std::uint64_t{to} << 32 | std::uint64_t{flow} << 16 | node;
  hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9U;
  hash = (hash ^ hash >> 27) * 0x94D049BB133111EBU;
  return hash ^ hash >> 31;
}

std::vector<FabricRoutes::Step> FabricRoutes::way(unsigned from, unsigned to, unsigned flow) const {
  std::vector<Step> steps;
  if (!reaches(from, to)) return steps;
  const auto& distance = distance_[to];
  std::vector<const Neighbour*> nearer;
  for (unsigned node = from; node != to;) {
    nearer.clear();
    for (const auto& next : neighbours_[node]) {
      const bool passes = next.node == to || plan_.nodes[next.node].passes();
      const bool is_nearer = distance[next.node] + 1 == distance[node];
      if (up_[next.step.link] && passes && is_nearer) nearer.push_back(&next);
    }
    const auto& chosen = *nearer[choice(from, to, flow, node) % nearer.size()];
    steps.push_back(chosen.step);
    node = chosen.node;
  }
  return steps;
}

}  // namespace npu::model
