// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/host_work_parts.hpp"

namespace npu::workloads {

using platform::Activity;

void HostWorkParts::on_event(const platform::TraceEvent& event) {
  times_[event.activity] += event.end - event.begin;
}

std::vector<Breakdown::Part> HostWorkParts::parts(const std::vector<Row>& rows,
                                                  Picoseconds elapsed) const {
  std::vector<Breakdown::Part> all{{"call", elapsed}};
  for (const auto& row : rows) {
    const auto found = times_.find(row.activity);
    const Picoseconds time = found == times_.end() ? Picoseconds() : found->second;
    all.push_back({row.name, time});
    all.front().time -= time;
  }
  return all;
}

std::vector<Breakdown::Part> HostWorkParts::allocation(Picoseconds elapsed) const {
  return parts({{"clear", Activity::kMemoryClear},
                {"pin", Activity::kMemoryPin},
                {"iommu_map", Activity::kIommuMap}},
               elapsed);
}

std::vector<Breakdown::Part> HostWorkParts::release(Picoseconds elapsed) const {
  return parts({{"ats_invalidation", Activity::kAtsInvalidation},
                {"iommu_unmap", Activity::kIommuUnmap},
                {"unpin", Activity::kMemoryUnpin}},
               elapsed);
}

}  // namespace npu::workloads
