// SPDX-License-Identifier: Apache-2.0
// What the timeline is told of a page on its way to the card: a stage for each part.
#pragma once

#include <fmt/format.h>

#include <array>

#include "driver/support/observation.hpp"

namespace npu::driver {

class ServiceTrace {
 public:
  enum Stage : unsigned { kAllocate, kUnmap, kCopy, kInvalidate, kMap, kReply, kStages };
  static constexpr std::array<const char*, kStages> kNames{"allocate",   "unmap", "copy",
                                                           "invalidate", "map",   "reply"};

  ServiceTrace(platform::Platform& platform, std::uint32_t device_index) : platform_(platform) {
    for (unsigned i = 0; i < kStages; ++i) {
      tracks_[i] =
          platform.tracer().track(fmt::format("driver{}.page_fault.{}", device_index, kNames[i]));
    }
  }
  // The stage begins, and the one before has ended.
  void begin(Stage stage) {
    observe(platform_, [&](platform::Tracer&, Instant now) {
      end(now);
      stage_ = stage;
      begin_ = now;
    });
  }
  void end() {
    observe(platform_, [&](platform::Tracer&, Instant now) { end(now); });
  }

 private:
  void end(Instant now) {
    if (stage_ == kStages) return;
    platform::TraceEvent event;
    event.begin = begin_;
    event.end = now;
    event.track = tracks_[stage_];
    event.activity = platform::Activity::kStage;
    platform_.tracer().emit(event);
    stage_ = kStages;
  }

  platform::Platform& platform_;
  std::array<std::uint32_t, kStages> tracks_{};
  Stage stage_ = kStages;  // none
  Instant begin_{};
};

}  // namespace npu::driver
