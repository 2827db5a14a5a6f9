// SPDX-License-Identifier: Apache-2.0
// Where the time of a task graph's run went, from the host's call to its return: differences of
// consecutive milestones, which therefore add up exactly.
//
// called -> submit: the image is built, copied to the card, both programs are launched
//        -> queue: the command processor has given the scheduler its AICPU
//        -> aicpu: handshake with the cores, wiring, until the first block is sent to a core
//        -> dispatch: until the first core has begun
//        -> cores: until the last core has ended
//        -> completion: the scheduler has seen it and dismissed the cores, and both launches are
//           complete
//        -> wait: the host has noticed, and has read the result back
#pragma once

#include <map>
#include <optional>

#include "npu/driver/device_context.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/figures.hpp"

namespace npu::workloads {

class RunBreakdown : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;

  // To be called once, after the run. kNotFound: an event is missing.
  Status finish(const driver::RunReport& run);

  // First core begins to last core ends. 0 before finish().
  Picoseconds cores() const;
  std::optional<MeasuredSpan> cores_span() const;
  // From the host's call to its return; none before finish().
  std::optional<MeasuredSpan> run_span() const;
  // The same as a figure; without a span if no core had work.
  MeasuredTime measured_cores() const;
  // The parts of PREFIXrun_us and itself, and a table.
  void report(const std::string& prefix, Context& context) const;

 private:
  struct Span {
    std::optional<Instant> begin, end;
    void add(const platform::TraceEvent& event);
  };

  Span dispatch_;                                                     // blocks sent to cores
  Span kernels_;                                                      // on cores
  std::map<std::uint64_t, Span> submissions_, blocks_, completions_;  // of launches, by cause
  Breakdown breakdown_;
  Instant called_{};
  Picoseconds run_{};        // from the call to its return
  std::uint64_t cause_ = 0;  // of the scheduler's launch
};

}  // namespace npu::workloads
