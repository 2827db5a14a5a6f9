// SPDX-License-Identifier: Apache-2.0
// A platform without barriers, on which a test of barriers must fail. With `cpu.order=weak` the
// driver's stores overtake each other, and the fixture reports them.
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
