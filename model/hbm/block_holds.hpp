// SPDX-License-Identifier: Apache-2.0
// From when on RDs and WRs are allowed in each block of lanes (candidates.hpp), by those of other
// banks: one vector of clocks a kind, because every RD and WR changes all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "model/hbm/candidates.hpp"

namespace npu::model::hbm {

class BlockHolds {
 public:
  // Clocks from a command to the next ones of a kind, by block.
  using Distances = LaneVector;
  static_assert(Candidates::kMaxBlocks * sizeof(Lane) == sizeof(Distances));

  // None of the kind is allowed in any block before `at` and the distance, now and later.
  void hold(unsigned kind, Clock at, const Distances& distances) {
    const LaneVector to = static_cast<Lane>(at - base_) + distances;
    change(kind, [&](const LaneVector& held) { return later(held, to); });
  }
  Clock until(unsigned kind, std::size_t block) const { return base_ + held_[kind][block]; }
  // Keeps the clocks small; to be called as Candidates::rebase().
  void rebase(Clock now) {
    const auto shift = static_cast<Lane>(std::min<Clock>(now - base_, INT16_MAX));
    for (unsigned kind = 0; kind < held_.size(); ++kind) {
      change(kind, [&](const LaneVector& held) { return later(held - shift, LaneVector{}); });
    }
    base_ = now;
  }

 private:
  // In one go; single clocks are read from memory, as they would be slow to take from a vector.
  template <class Change>
  void change(unsigned kind, const Change& changed) {
    LaneVector held;
    std::memcpy(&held, held_[kind].data(), sizeof held);
    held = changed(held);
    std::memcpy(held_[kind].data(), &held, sizeof held);
  }

  Clock base_ = 0;
  std::array<std::array<Lane, Candidates::kMaxBlocks>, 2> held_{};  // by kind, by block
};

}  // namespace npu::model::hbm
