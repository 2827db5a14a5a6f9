// SPDX-License-Identifier: Apache-2.0
// What the scalar unit of a core stood still for, as events. Waits for one thing with hardly
// anything between them, instruction after instruction for room in a queue, are one.
#pragma once

#include "model/aicore/call_stack.hpp"
#include "model/aicore/core_tracks.hpp"
#include "model/core/simulation.hpp"
#include "npu/platform/core_events.hpp"

namespace npu::model {

class ScalarWaits {
 public:
  ScalarWaits(Simulation& sim, CoreTracks& tracks, const CallStack& calls)
      : sim_(sim), tracks_(tracks), calls_(calls) {}

  void waited(const platform::ScalarWaitDetail& detail, SimTime begin, SimTime end) {
    if (begin >= end || !sim_.recorder.enabled()) return;
    const bool goes_on = end_ != 0 && detail.is_like(detail_) && begin >= end_ &&
                         begin - end_ <= (end - begin_) / kHardly;
    if (!goes_on) {
      tell();
      begin_ = begin;
    }
    end_ = end;
    detail_ = detail;
  }
  // What is kept; at the end of a call.
  void tell() {
    if (end_ != 0) {
      sim_.emit(tracks_.scalar(), platform::Activity::kScalarWait, begin_, end_,
                calls_.block().cause, 0, detail_.pack());
    }
    end_ = 0;
  }
  void forget() { end_ = 0; }

 private:
  static constexpr SimTime kHardly = 16;

  Simulation& sim_;
  CoreTracks& tracks_;
  const CallStack& calls_;
  SimTime begin_ = 0, end_ = 0;  // end_ 0: none
  platform::ScalarWaitDetail detail_;
};

}  // namespace npu::model
