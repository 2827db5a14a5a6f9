// SPDX-License-Identifier: Apache-2.0
// Tells the timeline of a call of the driver's interface, from construction to the end of the
// scope.
#pragma once

#include <fmt/format.h>

#include "driver/support/observation.hpp"

namespace npu::driver {

class CallTrace {
 public:
  static constexpr std::uint32_t kNoCard =
      UINT32_MAX;  // the call is of none, or of one to be found

  // `argument`: an address, handle or id, whatever tells one call from another; `bytes`: asked for.
  CallTrace(platform::Platform& platform, std::uint32_t device_index, platform::DriverCall call,
            std::uint64_t argument = 0, Bytes bytes = 0)
      : platform_(platform) {
    observe(platform, [&](platform::Tracer& tracer, Instant now) {
      constexpr unsigned kCallShift = 56;
      event_.begin = now;
      event_.bytes = bytes;
      event_.detail = static_cast<std::uint64_t>(call) << kCallShift |
                      (argument & ((std::uint64_t{1} << kCallShift) - 1));
      event_.track = tracer.track(
          device_index == kNoCard ? "driver.calls" : fmt::format("driver{}.calls", device_index));
      event_.activity = platform::Activity::kDriverCall;
    });
  }
  ~CallTrace() {
    observe(platform_, [&](platform::Tracer& tracer, Instant now) {
      if (event_.activity != platform::Activity::kDriverCall) return;  // began before
      event_.end = now;
      tracer.emit(event_);
    });
  }
  // It has done nothing (platform::kFailedCall).
  void failed() {
    observe(platform_, [&](platform::Tracer&, Instant) { event_.detail |= platform::kFailedCall; });
  }
  CallTrace(const CallTrace&) = delete;
  CallTrace& operator=(const CallTrace&) = delete;

 private:
  platform::Platform& platform_;
  platform::TraceEvent event_{};
};

}  // namespace npu::driver
