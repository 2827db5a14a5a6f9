// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {

TrackCapacities::TrackCapacities(const SimulatorView& simulator) {
  for (const auto& each : simulator.links()) {
    bytes_per_second_[each.track] = each.raw_bytes_per_second;
  }
  for (const auto& each : simulator.peer_links()) {
    bytes_per_second_[each.name] = each.raw_bytes_per_second;
  }
  for (const auto& each : simulator.memories()) {
    bytes_per_second_[each.name] = each.peak_bytes_per_second;
  }
  for (const auto& each : simulator.l2s()) {
    bytes_per_second_[each.name] = each.peak_bytes_per_second;
  }
}

std::uint64_t TrackCapacities::of(const std::string& track) const {
  const auto found = bytes_per_second_.find(track);
  return found == bytes_per_second_.end() ? 0 : found->second;
}

}  // namespace npu::workloads
