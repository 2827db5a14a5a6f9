// SPDX-License-Identifier: Apache-2.0
// The platform as a driver without barriers would use it: what a test of barriers must fail on.
// With `cpu.order=weak` the driver's stores overtake each other, and the fixture says which.
#pragma once

#include "npu/testing/forwarding_platform.hpp"

namespace npu::testkit {

class WithoutBarriers : public ForwardingPlatform {
 public:
  enum class Without { kWriteBarriers, kReadBarriers, kBoth };

  // `inner` outlives it.
  explicit WithoutBarriers(platform::Platform& inner, Without without = Without::kBoth)
      : ForwardingPlatform(inner), without_(without) {}

  void write_barrier() override {
    if (without_ == Without::kReadBarriers) inner().write_barrier();
  }
  void read_barrier() override {
    if (without_ == Without::kWriteBarriers) inner().read_barrier();
  }

 private:
  const Without without_;
};

}  // namespace npu::testkit
