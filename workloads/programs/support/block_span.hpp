// SPDX-License-Identifier: Apache-2.0
// The blocks of one launch on the AI Cores: from the first one's dispatch to the last one's report,
// and how long it took until something was copied in.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "npu/platform/core_events.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/figures.hpp"

namespace npu::workloads {

class BlockSpan : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    if (event.activity == platform::Activity::kPipe) pipe(event);
    if (event.activity != platform::Activity::kKernelBlock) return;
    begin_ = begin_ ? std::min(*begin_, event.begin) : event.begin;
    end_ = std::max(end_, event.end);
    cause_ = event.cause;
    blocks_ += 1;
  }
  Picoseconds duration() const { return begin_ ? end_ - *begin_ : Picoseconds{}; }
  unsigned blocks() const { return blocks_; }
  // duration() and start() with their spans; none where they are 0 for want of an event.
  MeasuredTime measured() const { return {duration(), blocks_span()}; }
  MeasuredTime measured_start() const { return {start(), start_span()}; }
  std::vector<MeasuredSpan> blocks_span() const {
    if (!begin_) return {};
    return {{*begin_, end_, cause_}};
  }
  std::vector<MeasuredSpan> start_span() const {
    if (!begin_ || !first_copy_) return {};
    return {{*begin_, *first_copy_, cause_}};
  }
  // From the begin of the first copy into a core to the end of the last one out of it.
  MeasuredTime measured_pipes() const {
    if (!first_copy_ || last_copy_ < *first_copy_) return {};
    return {last_copy_ - *first_copy_, {{*first_copy_, last_copy_, cause_}}};
  }
  // From the first dispatch to the first copy into a core; nothing was copied: 0.
  Picoseconds start() const {
    return begin_ && first_copy_ ? *first_copy_ - *begin_ : Picoseconds{};
  }

 private:
  void pipe(const platform::TraceEvent& event) {
    const auto pipe = platform::pipe_of(event.detail);
    if (pipe == platform::Pipe::kMte3 || pipe == platform::Pipe::kFixpipe) {
      last_copy_ = std::max(last_copy_, event.end);
    }
    if (pipe != platform::Pipe::kMte2) return;
    first_copy_ = first_copy_ ? std::min(*first_copy_, event.begin) : event.begin;
  }

  std::optional<Instant> begin_, first_copy_;
  Instant end_, last_copy_;
  unsigned blocks_ = 0;
  std::uint64_t cause_ = 0;  // of the launch
};

}  // namespace npu::workloads
