// SPDX-License-Identifier: Apache-2.0
// What an adaptive wait knows about a stream: per class of sizes (log2), a moving mean and mean
// deviation of the time from submission to completion, in integers. Weights are those that TCP
// uses for its round trips (RFC 6298): 1/8 of a new sample into the mean, 1/4 into the deviation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

struct LatencyEstimate {
  bool known = false;
  Picoseconds mean;
  Picoseconds deviation;

  void learn(Picoseconds sample) {
    if (!known) {
      *this = {true, sample, sample / 8};
      return;
    }
    const Picoseconds error = sample - mean;
    const Picoseconds distance = error < Picoseconds() ? Picoseconds() - error : error;
    mean += error / 8;
    deviation += (distance - deviation) / 4;
  }
};

class LatencyPredictor {
 public:
  static constexpr unsigned kClasses = 40;  // up to 1 TiB

  const LatencyEstimate& estimate(unsigned size_class) const {
    return classes_[std::min(size_class, kClasses - 1)];
  }
  void learn(unsigned size_class, Picoseconds sample) {
    classes_[std::min(size_class, kClasses - 1)].learn(sample);
  }
  void forget() { classes_.fill(LatencyEstimate{}); }

 private:
  std::array<LatencyEstimate, kClasses> classes_{};
};

}  // namespace npu::driver
