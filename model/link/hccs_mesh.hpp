// SPDX-License-Identifier: Apache-2.0
// The HCCS links of a system (SystemConfig::hccs_topology) between the ports of its cards.
#pragma once

#include <memory>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/link/hccs_port.hpp"

namespace npu::model {

// Whether a system of so many cards has a link between two of them.
bool are_linked(HccsTopology topology, unsigned a, unsigned b, unsigned cards);

class HccsMesh {
 public:
  // Before the simulation starts; `ports` by index of the card, they outlive the mesh.
  HccsMesh(Simulation& sim, HccsTopology topology, const std::vector<HccsPort*>& ports);

  // Null: there is none between the two cards. Side 0 is the card of the lower index.
  HccsLink* between(unsigned a, unsigned b) const;
  struct Link {
    unsigned low, high;  // the cards
    std::unique_ptr<HccsLink> link;
  };
  const std::vector<Link>& links() const { return links_; }

 private:
  std::vector<Link> links_;  // by cards
};

}  // namespace npu::model
