// SPDX-License-Identifier: Apache-2.0
// How long each address space has had at least one AI Core.
#pragma once

#include <vector>

#include "model/core/busy_time.hpp"
#include "model/core/space_id.hpp"

namespace npu::model {

class SpaceBusy {
 public:
  SpaceBusy(unsigned spaces, unsigned cores) : spaces_(spaces), of_core_(cores, kNone) {}

  // The core has a block of the space from now on. Nothing if it has one already.
  void begin(unsigned core, SpaceId space, SimTime now) {
    if (of_core_[core] != kNone) return;
    of_core_[core] = space;
    if (spaces_[space].cores++ == 0) spaces_[space].time.begin(now);
  }
  void end(unsigned core, SimTime now) {
    if (of_core_[core] == kNone) return;
    auto& space = spaces_[of_core_[core]];
    of_core_[core] = kNone;
    if (--space.cores == 0) space.time.end(now);
  }
  SimTime until(SpaceId space, SimTime now) const { return spaces_[space].time.until(now); }

 private:
  static constexpr unsigned kNone = ~0U;  // more than there are spaces
  struct Space {
    unsigned cores = 0;
    BusyTime time;
  };
  std::vector<Space> spaces_;
  std::vector<unsigned> of_core_;
};

}  // namespace npu::model
