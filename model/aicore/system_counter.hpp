// SPDX-License-Identifier: Apache-2.0
// The counter that all cores of a card see, as a function of time.
#pragma once

#include "model/core/agenda.hpp"
#include "npu/base/checked.hpp"

namespace npu::model {

class SystemCounter {
 public:
  explicit SystemCounter(std::uint64_t hz) : mhz_(hz / 1'000'000) {}

  std::uint64_t at(SimTime when) const {
    return when / kMicrosecond * mhz_ + when % kMicrosecond * mhz_ / kMicrosecond;
  }
  // When it shows `count` for the first time; UINT64_MAX: never.
  SimTime time_of(std::uint64_t count) const {
    if (count / mhz_ >= UINT64_MAX / kMicrosecond) return UINT64_MAX;
    return count / mhz_ * kMicrosecond + ceil_div(count % mhz_ * kMicrosecond, mhz_);
  }

 private:
  static constexpr std::uint64_t kMicrosecond = 1'000'000;  // ps

  std::uint64_t mhz_;
};

}  // namespace npu::model
