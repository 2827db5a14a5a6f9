// SPDX-License-Identifier: Apache-2.0
// What the driver tells a timeline. It is none of the driver's work: where instructions are counted
// (kernels/counting/) these are not, so that a run takes the same time whether it is watched or
// not.
#pragma once

#include <utility>

#include "npu/base/result.hpp"
#include "npu/platform/platform.hpp"

#ifdef NPU_COUNTED
extern "C" __attribute__((visibility("hidden"))) volatile std::uint64_t npu_instructions;
#endif

namespace npu::driver {

// Of an event_wait's detail: the wait ended without what it waited for.
inline bool is_timeout(const Status& status) {
  return !status && status.error().code == ErrorCode::kTimeout;
}

// Calls tell(tracer, now) if somebody listens. `tell` asks the machine nothing but its tracer.
#ifdef NPU_COUNTED
// Whatever it calls, the machine sees the count that it had before.
template <class Tell>
[[gnu::noinline]] void observe(platform::Platform& platform, const Tell& tell) noexcept {
  const std::uint64_t before = npu_instructions;
  auto& tracer = platform.tracer();
  npu_instructions = before;
  if (tracer.enabled()) {
    auto& clock = platform.clock();
    npu_instructions = before;
    const Instant now = clock.now();
    tell(tracer, now);
  }
  npu_instructions = before;
}
#else
template <class Tell>
void observe(platform::Platform& platform, const Tell& tell) {
  auto& tracer = platform.tracer();
  if (tracer.enabled()) tell(tracer, platform.clock().now());
}
#endif

}  // namespace npu::driver
