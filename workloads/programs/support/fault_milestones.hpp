// SPDX-License-Identifier: Apache-2.0
// Where the time of one page fault of the card went, from the stream of events.
#pragma once

#include <optional>
#include <vector>

#include "npu/driver/managed.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/measurement.hpp"
#include "workloads/framework/reporting.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::workloads {

// Listens to one fault. The parts are differences of consecutive milestones, so that they add up.
// Of a fault that the driver serves:
//   walk        the page is walked for and not found; 0: its translation is cached, and forbids
//               the access
//   message     until the record of the fault is in host memory
//   interrupt   until the handler of its interrupt has run
//   driver      until the driver takes a block of memory: its task wakes, takes the record, looks
//               the page up
//   allocation, copy, invalidation, table   of the driver's stages; no copy of a page that nobody
//               has touched, an invalidation of one that the card has and may only read
//   reply       until the card's MMU has it
//   replay      the page is walked for again and found
// Of one that the card's pager serves:
//   walk
//   signal      until the pager has seen it
//   allocation  it takes the fault and memory for it, until its message leaves
//   message, interrupt, driver, copy
//   invalidation  the pager takes a page back that the card may only read
//   adoption    the driver writes the entry of that page anew, and tells the pager
//   reply       until the pager has taken the driver's answer
//   table       it writes the entry if the driver has not, until the card's MMU has its reply
//   replay
// Of one on a page of the host's, which the card uses in place:
//   walk        the card's own tables have nothing there
//   translation asked for by ATS; that is all if the host has the page
//   message     the page request (PRI) is in the IOMMU's queue
//   interrupt, driver, allocation
//   table       the driver maps the page for the process
//   reply       until the card has the response
//   replay      the translation is asked for again, and granted
class FaultMilestones : public platform::TraceSink {
 public:
  FaultMilestones(TraceSource& source, driver::FaultPolicy policy)
      : source_(source), policy_(policy) {}
  void on_event(const platform::TraceEvent& event) override;

  // kNotFound: a milestone is missing; which one.
  Result<std::vector<Breakdown::Part>> parts() const;
  Instant begin() const;

 private:
  // A part of the fault, and when it ends.
  struct Row {
    const char* name;
    std::optional<Instant> end;
  };
  void on_stage(const platform::TraceEvent& event);
  std::vector<Row> rows_of_driver() const;
  std::vector<Row> rows_of_pager() const;
  std::vector<Row> rows_in_place() const;

  TraceSource& source_;
  const driver::FaultPolicy policy_;
  std::vector<MeasuredSpan> walks_;
  std::vector<Instant> writes_, interrupts_, messages_;  // ends of them
  std::vector<MeasuredSpan> translations_;               // that were asked for
  std::optional<Instant> walked_, seen_, asked_, allocate_, unmap_, copy_, invalidate_, map_,
      reply_, answered_, replied_, found_;
};

}  // namespace npu::workloads
