// SPDX-License-Identifier: Apache-2.0
// Tells the timeline of a call of the driver's interface, from construction to the end of the
// scope. Costs a load and a branch when nobody listens.
#pragma once

#include <fmt/format.h>

#include "npu/platform/platform.hpp"

namespace npu::driver {

class CallTrace {
 public:
  static constexpr std::uint32_t kNoCard =
      UINT32_MAX;  // the call is of none, or of one to be found

  // `argument`: an address, handle or id, whatever tells one call from another; `bytes`: asked for.
  CallTrace(platform::Platform& platform, std::uint32_t device_index, platform::DriverCall call,
            std::uint64_t argument = 0, Bytes bytes = 0)
      : platform_(platform), on_(platform.tracer().enabled()) {
    if (!on_) return;
    constexpr unsigned kCallShift = 56;
    event_.begin = platform.clock().now();
    event_.bytes = bytes;
    event_.detail = static_cast<std::uint64_t>(call) << kCallShift |
                    (argument & ((std::uint64_t{1} << kCallShift) - 1));
    event_.track = platform.tracer().track(
        device_index == kNoCard ? "driver.calls" : fmt::format("driver{}.calls", device_index));
    event_.activity = platform::Activity::kDriverCall;
  }
  ~CallTrace() {
    if (!on_) return;
    event_.end = platform_.clock().now();
    platform_.tracer().emit(event_);
  }
  CallTrace(const CallTrace&) = delete;
  CallTrace& operator=(const CallTrace&) = delete;

 private:
  platform::Platform& platform_;
  platform::TraceEvent event_{};
  bool on_;
};

}  // namespace npu::driver
