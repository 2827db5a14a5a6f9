// SPDX-License-Identifier: Apache-2.0
// Events of one unit may overlap, slices of one thread of a timeline may not: an event gets the
// first lane that is free from its begin on.
#pragma once

#include <cstddef>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::timeline {

class Lanes {
 public:
  // The lane of [begin, end), from 0. Events come about in the order of their ends.
  std::size_t take(Picoseconds begin, Picoseconds end) {
    std::size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > begin) ++lane;
    if (lane == ends_.size()) ends_.push_back({});
    ends_[lane] = end;
    return lane;
  }
  std::size_t count() const { return ends_.size(); }

 private:
  std::vector<Picoseconds> ends_;
};

}  // namespace npu::timeline
