// SPDX-License-Identifier: Apache-2.0
// Conversion between simulated time and the edges of a clock whose period need not be a whole
// number of picoseconds: edge k lies at ceil(k * 10^12 / hz).
#pragma once

#include <cstdint>
#include <numeric>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class ClockDomain {
 public:
  // hz: 1..10^12. Ranges: with 10^12/hz = p/q in lowest terms, edges up to 2^63/p.
  explicit ClockDomain(std::uint64_t hz) {
    const std::uint64_t divisor = std::gcd(std::uint64_t{1'000'000'000'000}, hz);
    picoseconds_ = 1'000'000'000'000 / divisor;
    edges_ = hz / divisor;
  }
  // The time of edge `clock` in picoseconds.
  std::uint64_t time(Clock clock) const {
    const std::uint64_t scaled = static_cast<std::uint64_t>(clock) * picoseconds_;
    return edges_ == 1 ? scaled : (scaled + edges_ - 1) / edges_;
  }
  // The first edge at or after `time`, and the last at or before it.
  Clock ceil(std::uint64_t time) const {
    const Clock down = floor(time);
    return this->time(down) == time ? down : down + 1;
  }
  Clock floor(std::uint64_t time) const {
    // ceil(k p / q) <= time  <=>  k p <= time q
    return static_cast<Clock>(time / picoseconds_ * edges_ +
                              time % picoseconds_ * edges_ / picoseconds_);
  }

 private:
  std::uint64_t picoseconds_;  // per `edges_` edges
  std::uint64_t edges_;
};

}  // namespace npu::model::hbm
