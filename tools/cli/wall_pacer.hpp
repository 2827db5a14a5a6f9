// SPDX-License-Identifier: Apache-2.0
// Simulated time held to wall time: not ahead of it, and catching up with it.
#pragma once

#include <algorithm>
#include <chrono>

#include "model/host/exporter.hpp"

namespace npu::cli {

class WallPacer : public model::Pacer {
 public:
  // Both clocks begin together.
  WallPacer() : simulated_(model::sim_now()), begin_(std::chrono::steady_clock::now()) {}

  model::SimTime allowed() override {
    const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::steady_clock::now() - begin_);
    return simulated_ + static_cast<model::SimTime>(passed.count()) * kPerNanosecond;
  }
  int milliseconds_until(model::SimTime when) override {
    const model::SimTime now = allowed();
    if (when <= now) return 0;
    const model::SimTime milliseconds = (when - now) / (1'000'000 * kPerNanosecond) + 1;
    return static_cast<int>(std::min<model::SimTime>(milliseconds, 1000));
  }

 private:
  static constexpr model::SimTime kPerNanosecond = 1000;
  model::SimTime simulated_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace npu::cli
