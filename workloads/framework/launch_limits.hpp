// SPDX-License-Identifier: Apache-2.0
// What bounded launches that were measured, and what they used, from their events: pipes, memories,
// launching.
#pragma once

#include <optional>
#include <string>

#include "tools/timeline/kernel_limits.hpp"
#include "tools/timeline/kernel_use.hpp"
#include "tools/timeline/path_events.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/framework/limits.hpp"

namespace npu::workloads {

// Launches of a kernel that were measured.
struct MeasuredLaunches {
  std::string subject;    // of limits and metrics: "operator"
  std::string metric;     // their duration in the report
  std::string operation;  // as measurements on silicon name it; empty: none names such a kernel
  std::optional<std::uint64_t> operations = {};  // multiplications and additions asked for
};

class LaunchLimits : public platform::TraceSink {
 public:
  // Before the launches.
  explicit LaunchLimits(const Context& context);

  void on_event(const platform::TraceEvent& event) override {
    events_.on_event(event);
    traffic_.on_event(event);
    use_.on_event(event);
  }
  // The launches have ended: what the device memory did meanwhile is theirs.
  void ended(const Context& context);
  // Limits of launches in [begin, end), from the first block's begin to the last one's end; what
  // they used; how far the duration may be from silicon. Once.
  void report(const MeasuredLaunches& launches, Instant begin, Instant end, Context& context);

 private:
  // 40 MiB; of a longer run its last part.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  timeline::PathEvents events_{kMost};
  timeline::KernelTraffic traffic_;
  timeline::KernelUseCounter use_;
  Snapshot before_;
  std::optional<Snapshot> meanwhile_;
};

}  // namespace npu::workloads
