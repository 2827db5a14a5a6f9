// SPDX-License-Identifier: Apache-2.0
// Events of one unit may overlap, slices of one thread of a timeline may not: an event gets the
// first lane that is free from its begin on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::timeline {

// A tree over the lanes finds it: thousands may be in use.
class Lanes {
 public:
  // The lane of [begin, end), from 0. Events come about in the order of their ends.
  std::size_t take(Instant begin, Instant end) {
    if (ends_[1] > begin) widen();
    const std::size_t lane = first_free(begin);
    std::size_t node = room_ + lane;
    ends_[node] = end;
    for (node /= 2; node != 0; node /= 2) {
      const Instant earliest = std::min(ends_[2 * node], ends_[2 * node + 1]);
      if (ends_[node] == earliest) break;
      ends_[node] = earliest;
    }
    count_ = std::max(count_, lane + 1);
    return lane;
  }
  std::size_t count() const { return count_; }

 private:
  // There is one. Mostly it is among the first few.
  std::size_t first_free(Instant begin) const {
    constexpr std::size_t kFew = 4;
    for (std::size_t lane = 0; lane < std::min(room_, kFew); ++lane) {
      if (ends_[room_ + lane] <= begin) return lane;
    }
    std::size_t node = 1;
    while (node < room_) node = 2 * node + (ends_[2 * node] > begin ? 1U : 0U);
    return node - room_;
  }
  // Twice as many, the new ones free.
  void widen() {
    std::vector<Instant> wider(4 * room_);
    std::copy_n(ends_.begin() + static_cast<std::ptrdiff_t>(room_), room_,
                wider.begin() + static_cast<std::ptrdiff_t>(2 * room_));
    room_ *= 2;
    for (std::size_t node = room_ - 1; node != 0; --node) {
      wider[node] = std::min(wider[2 * node], wider[2 * node + 1]);
    }
    ends_ = std::move(wider);
  }

  // [room_ + i]: when lane i is free; [i]: the earliest of [2 i] and [2 i + 1].
  std::vector<Instant> ends_ = std::vector<Instant>(2);
  std::size_t room_ = 1;
  std::size_t count_ = 0;
};

}  // namespace npu::timeline
