// SPDX-License-Identifier: Apache-2.0
// Whether page faults that nobody could serve are too many (virtualisation.md S5): looked at every
// now and then, it counts from the first look that sees any.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

class FaultErrorWatch {
 public:
  FaultErrorWatch(std::uint64_t threshold, Picoseconds window)
      : threshold_(threshold), window_(window) {}

  // True once: there have been `threshold` more errors than at first, and that is at least `window`
  // ago. Fewer than at first: it begins anew.
  bool look(std::uint64_t errors, Instant now) {
    if (errors < base_) base_ = 0, told_ = false;
    if (errors == 0) return false;
    if (base_ == 0) base_ = errors, since_ = now;
    if (told_ || errors - base_ < threshold_ || now - since_ < window_) return false;
    told_ = true;
    return true;
  }
  // There is something to look for.
  bool counts() const { return base_ != 0 && !told_; }

 private:
  const std::uint64_t threshold_;
  const Picoseconds window_;
  std::uint64_t base_ = 0;
  Instant since_{};
  bool told_ = false;
};

}  // namespace npu::driver
