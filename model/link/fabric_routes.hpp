// SPDX-License-Identifier: Apache-2.0
// The ways between the cards of a fabric: shortest ones, in links, over links that are up. Cards
// pass nothing on: a way goes over switches and NICs.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/fabric_plan.hpp"

namespace npu::model {

class FabricRoutes {
 public:
  // Longer ways are none: messages at each place of a way have buffers of their own.
  static constexpr unsigned kMostLinks = 31;

  // A link, and the side from which it is taken: 0 from its lower node.
  struct Step {
    unsigned link, side;
  };

  // All links are up. `plan` outlives the object.
  FabricRoutes(const FabricPlan& plan, FabricRouting routing, unsigned cards);

  void set_up(std::size_t link, bool up);
  bool is_up(std::size_t link) const { return up_[link]; }

  // Whether there is a way over links that are up.
  bool reaches(unsigned from, unsigned to) const {
    return from != to && distance_[to][from] != kFar;
  }
  // Empty: there is none. The same one for the same arguments, as long as no link changes.
  // kTable takes no notice of the flow.
  std::vector<Step> way(unsigned from, unsigned to, unsigned flow) const;

 private:
  static constexpr std::uint32_t kFar = UINT32_MAX;
  struct Neighbour {
    unsigned node;
    Step step;
  };

  void measure();
  void measure_to(unsigned card);
  std::size_t choice(unsigned from, unsigned to, unsigned flow, unsigned node) const;

  const FabricPlan& plan_;
  const FabricRouting routing_;
  std::vector<bool> up_;                              // by link
  std::vector<std::vector<Neighbour>> neighbours_;    // by node, in order of the links
  std::vector<std::vector<std::uint32_t>> distance_;  // by card, by node: links to the card
};

}  // namespace npu::model
