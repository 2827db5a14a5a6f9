// SPDX-License-Identifier: Apache-2.0
// What the scalar unit of a core stood still for, as events. Waits for one thing with hardly
// anything between them, instruction after instruction for room in a queue, are one. So are those
// of a poll loop for the lines that it looks at, of rounds that are passed over too.
#pragma once

#include <algorithm>

#include "model/aicore/call_stack.hpp"
#include "model/aicore/core_tracks.hpp"
#include "model/core/simulation.hpp"
#include "npu/platform/core_events.hpp"

namespace npu::model {

class ScalarWaits {
 public:
  ScalarWaits(Simulation& sim, CoreTracks& tracks, const CallStack& calls)
      : sim_(sim), tracks_(tracks), calls_(calls) {}

  // `polls`: to look at what a poll loop looks at.
  void waited(const platform::ScalarWaitDetail& detail, SimTime begin, SimTime end,
              bool polls = false) {
    if (begin >= end || !sim_.recorder.enabled()) return;
    const bool resumes_at = end_ != 0 && detail.is_like(detail_) && begin >= end_ &&
                            ((polls && polls_) || begin - end_ <= (end - begin_) / kHardly);
    if (!resumes_at) {
      tell();
      begin_ = begin;
    }
    end_ = end;
    polls_ = polls;
    detail_ = detail;
  }
  // Rounds, each with such a wait, that take so long together.
  void passed_over(SimTime time) {
    if (polls_) end_ += time;
  }
  // The program does something else than to look.
  void end_of_polls() {
    if (polls_) tell();
  }
  // The block is ended now: a poll loop would have waited until then.
  void cut() {
    if (polls_) end_ = std::max(end_, sim_now());
  }
  // What is kept; at the end of a call.
  void tell() {
    if (end_ != 0) {
      sim_.emit(tracks_.scalar(), platform::Activity::kScalarWait, begin_, end_,
                calls_.block().cause, 0, detail_.pack());
    }
    forget();
  }
  void forget() {
    end_ = 0;
    polls_ = false;
  }

 private:
  static constexpr SimTime kHardly = 16;

  Simulation& sim_;
  CoreTracks& tracks_;
  const CallStack& calls_;
  SimTime begin_ = 0, end_ = 0;  // end_ 0: none
  bool polls_ = false;           // the last was a poll's
  platform::ScalarWaitDetail detail_;
};

}  // namespace npu::model
