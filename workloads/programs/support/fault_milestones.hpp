// SPDX-License-Identifier: Apache-2.0
// Where the time of one page fault of the card went, from the stream of events.
#pragma once

#include <optional>
#include <vector>

#include "npu/platform/trace.hpp"
#include "workloads/framework/reporting.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::workloads {

// Listens to one fault. The parts are differences of consecutive milestones, so that they add up:
//   walk        the page is walked for and not found
//   message     until the record of the fault is in host memory
//   interrupt   until the handler of its interrupt has run
//   driver      until the driver takes a block of memory: its task wakes, takes the record, looks
//               the page up
//   allocation, copy, table   of the driver's stages; no copy of a page that nobody has touched
//   reply       until the card's MMU has it
//   replay      the page is walked for again and found
class FaultMilestones : public platform::TraceSink {
 public:
  explicit FaultMilestones(TraceSource& source) : source_(source) {}
  void on_event(const platform::TraceEvent& event) override;

  // kNotFound: a milestone is missing; which one.
  Result<std::vector<Breakdown::Part>> parts() const;
  Instant begin() const { return begin_.value_or(Instant{}); }

 private:
  TraceSource& source_;
  std::optional<Instant> begin_, walked_, told_, interrupted_, allocate_, copy_, map_, reply_,
      replied_, found_;
};

}  // namespace npu::workloads
