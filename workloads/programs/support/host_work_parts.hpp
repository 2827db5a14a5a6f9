// SPDX-License-Identifier: Apache-2.0
// What the operating system's work on memory for devices is made of, from the stream of events.
#pragma once

#include <map>
#include <vector>

#include "npu/platform/trace.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

// Adds up the host's work while it listens. Only one task may do such work meanwhile.
class HostWorkParts : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;

  // `elapsed` of an allocation: call (what is none of the others), clear, pin, iommu_map.
  std::vector<Breakdown::Part> allocation(Picoseconds elapsed) const;
  // Of giving memory back: call, ats_invalidation (by the function), iommu_unmap (with the IOTLB's
  // invalidation), unpin.
  std::vector<Breakdown::Part> release(Picoseconds elapsed) const;

 private:
  struct Row {
    const char* name;
    platform::Activity activity;
  };
  std::vector<Breakdown::Part> parts(const std::vector<Row>& rows, Picoseconds elapsed) const;

  std::map<platform::Activity, Picoseconds> times_;
};

}  // namespace npu::workloads
