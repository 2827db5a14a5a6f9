// SPDX-License-Identifier: Apache-2.0
#include "model/link/hccs_mesh.hpp"

#include <algorithm>

namespace npu::model {

bool are_linked(HccsTopology topology, unsigned a, unsigned b, unsigned cards) {
  const unsigned low = std::min(a, b), high = std::max(a, b);
  if (low == high || high >= cards) return false;
  switch (topology) {
    case HccsTopology::kNone:
      return false;
    case HccsTopology::kFullMesh:
      return true;
    case HccsTopology::kRing:
      return high == low + 1 || (low == 0 && high == cards - 1);
  }
  return false;
}

HccsMesh::HccsMesh(Simulation& sim, HccsTopology topology, const std::vector<HccsPort*>& ports) {
  const auto cards = static_cast<unsigned>(ports.size());
  for (unsigned low = 0; low < cards; ++low) {
    for (unsigned high = low + 1; high < cards; ++high) {
      if (!are_linked(topology, low, high, cards)) continue;
      const auto name = "hccs" + std::to_string(low) + "_" + std::to_string(high);
      auto link = std::make_unique<HccsLink>(name.c_str(), sim, ports[low]->config(),
                                             ports[high]->config());
      ports[low]->connect(high, *link, 0);
      ports[high]->connect(low, *link, 1);
      links_.push_back({low, high, std::move(link)});
    }
  }
}

HccsLink* HccsMesh::between(unsigned a, unsigned b) const {
  for (const auto& each : links_) {
    if (each.low == std::min(a, b) && each.high == std::max(a, b)) return each.link.get();
  }
  return nullptr;
}

}  // namespace npu::model
