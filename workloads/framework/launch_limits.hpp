// SPDX-License-Identifier: Apache-2.0
// What bounded launches that were measured, from their events: pipes, memories, launching.
#pragma once

#include <string>

#include "tools/timeline/kernel_limits.hpp"
#include "tools/timeline/path_events.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

class LaunchLimits : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override {
    events_.on_event(event);
    traffic_.on_event(event);
  }
  // Limits of `subject`, of the launches in [begin, end): from the first block's begin to the last
  // one's end. Once.
  void report(const std::string& subject, Instant begin, Instant end, Context& context);

 private:
  // 40 MiB; of a longer run its last part.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  timeline::PathEvents events_{kMost};
  timeline::KernelTraffic traffic_;
};

}  // namespace npu::workloads
