// SPDX-License-Identifier: Apache-2.0
// What a node of host memory moves: everybody's bytes, one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/core/simulation.hpp"
#include "npu/base/units.hpp"

namespace npu::model {

class MemoryBus {
 public:
  explicit MemoryBus(std::uint64_t bytes_per_second) : rate_(bytes_per_second) {}

  // `bytes` (at most 16 MiB) from `now` on: the time until those that came before are through.
  SimTime take(SimTime now, Bytes bytes) {
    if (free_ < now) {
      free_ = now;
      rest_ = 0;
    }
    const SimTime wait = free_ - now;
    rest_ += bytes * kSecond;
    free_ += rest_ / rate_;
    rest_ %= rate_;
    moved_ += bytes;
    return wait;
  }
  // When all that was taken so far is through.
  SimTime free_at() const { return free_; }
  Bytes moved() const { return moved_; }

 private:
  static constexpr std::uint64_t kSecond = 1'000'000'000'000;  // ps
  std::uint64_t rate_;
  SimTime free_ = 0;
  std::uint64_t rest_ = 0;  // less than a picosecond, in parts of 1 / rate
  Bytes moved_ = 0;
};

}  // namespace npu::model
