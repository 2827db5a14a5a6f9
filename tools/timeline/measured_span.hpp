// SPDX-License-Identifier: Apache-2.0
// What of a run was measured, set-up apart: from the first of its measurements to the last. A run
// without any, of a program that knows nothing of them, was measured from its first submission of a
// copy or launch to the end of the last wait, copy or block.
#pragma once

#include <algorithm>

#include "npu/platform/trace.hpp"

namespace npu::timeline {

class MeasuredSpan : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    using platform::Activity;
    switch (event.activity) {
      case Activity::kMeasurement:
        return measured_.add(event.begin, event.end);
      case Activity::kDmaSubmit:
        submitted_ = std::min(submitted_, event.begin);
        return used_.add(event.begin, event.end);
      case Activity::kEventWait:
      case Activity::kKernelBlock:
      case Activity::kCommand:
        return used_.add(event.begin, event.end);
      default:
        return;
    }
  }

  struct Span {
    Instant begin, end;
  };
  // Of the run [0, end); all of it, if nothing happened.
  Span of(Instant end) const {
    if (measured_.is_there()) return measured_.within(Instant(), end);
    if (submitted_ == Instant::never()) return {Instant(), end};
    return used_.within(submitted_, end);
  }

 private:
  struct Extent {
    Instant first = Instant::never(), last;
    void add(Instant begin, Instant end) {
      first = std::min(first, begin);
      last = std::max(last, end);
    }
    bool is_there() const { return first < last; }
    Span within(Instant begin, Instant end) const {
      return {std::min(std::max(first, begin), end), std::min(last, end)};
    }
  };
  Extent measured_, used_;
  Instant submitted_ = Instant::never();
};

}  // namespace npu::timeline
