// SPDX-License-Identifier: Apache-2.0
// What a machine did while nobody but its own models could tell: how often each activity happened
// and how long it took, in simulated time.
#pragma once

#include <array>
#include <cstdint>

#include "model/host/exporter.hpp"
#include "npu/platform/trace.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/trace_session.hpp"

namespace npu::cli {

class ActivityReport : private platform::TraceSink {
 public:
  // Listens from now on.
  explicit ActivityReport(workloads::TraceSource& source);
  ~ActivityReport() override;
  ActivityReport(const ActivityReport&) = delete;
  ActivityReport& operator=(const ActivityReport&) = delete;

  // Metrics serve.<activity>.{count,mean_ns,longest_ns} and a table of them.
  void add_to(reports::Report& report) const;

 private:
  struct Sum {
    std::uint64_t count = 0;
    Picoseconds total{0};
    Picoseconds longest{0};
  };
  void on_event(const platform::TraceEvent& event) override;

  workloads::TraceSource& source_;
  std::array<Sum, static_cast<std::size_t>(platform::Activity::kCount)> sums_{};
};

// What the clients did: metrics serve.<function>.* and a table.
void add_exports(reports::Report& report, const model::Exporter& exporter,
                 const model::HostMemory& memory);

}  // namespace npu::cli
