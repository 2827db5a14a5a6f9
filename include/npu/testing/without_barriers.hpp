// SPDX-License-Identifier: Apache-2.0
// A platform without barriers, or without those of one place, on which a test of barriers must
// fail. With `cpu.order=weak` or `order.rule=weakest` the driver's stores overtake each other, and
// the fixture reports them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "npu/testing/forwarding_platform.hpp"

namespace npu::testkit {

class WithoutBarriers : public ForwardingPlatform {
 public:
  enum class Without { kWriteBarriers, kReadBarriers, kBoth };

  // `inner` outlives it. `place`: only the barriers of this place are left out. A place is a call
  // in the driver. Places have numbers from 0, in the order in which they are first reached. Beyond
  // the last one: none is left out, and places are counted.
  explicit WithoutBarriers(platform::Platform& inner, Without without = Without::kBoth,
                           std::optional<std::size_t> place = std::nullopt)
      : ForwardingPlatform(inner), without_(without), place_(place) {}

  // Of the barriers that it is without, so far.
  std::size_t places() const { return places_.size(); }
  // Barriers left out so far.
  std::uint64_t left_out() const { return left_out_; }

  void write_barrier() override {
    const bool kept = without_ == Without::kReadBarriers;
    if (kept || !leaves_out(__builtin_return_address(0))) inner().write_barrier();
  }
  void read_barrier() override {
    const bool kept = without_ == Without::kWriteBarriers;
    if (kept || !leaves_out(__builtin_return_address(0))) inner().read_barrier();
  }

 private:
  bool leaves_out(const void* from) {
    auto found = std::find(places_.begin(), places_.end(), from);
    if (found == places_.end()) found = places_.insert(found, from);
    const bool out = !place_ || static_cast<std::size_t>(found - places_.begin()) == *place_;
    if (out) ++left_out_;
    return out;
  }

  const Without without_;
  const std::optional<std::size_t> place_;
  std::vector<const void*> places_;
  std::uint64_t left_out_ = 0;
};

}  // namespace npu::testkit
