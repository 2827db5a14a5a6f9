// SPDX-License-Identifier: Apache-2.0
// When each part of a compaction was, from the driver's events; kept only if somebody records them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/framework/context.hpp"
#include "workloads/framework/measurement.hpp"

namespace npu::workloads {

class CompactionStages : public platform::TraceSink {
 public:
  explicit CompactionStages(Context& context);
  void on_event(const platform::TraceEvent& event) override;

  struct Part {
    std::string name;
    MeasuredSpan span;
  };
  // Parts of the last compaction whose submissions were let in again, in their order.
  const std::vector<Part>& last() const { return last_; }
  // Of every such one, from the closing of the gate to its opening.
  const std::vector<MeasuredSpan>& pauses() const { return pauses_; }

 private:
  TraceSource& source_;
  std::vector<Part> parts_, last_;  // parts_: of the one in flight
  std::vector<MeasuredSpan> pauses_;
  std::optional<TraceSession> listening_;
};

}  // namespace npu::workloads
