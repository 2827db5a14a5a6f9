// SPDX-License-Identifier: Apache-2.0
#include "cli/track_capacities.hpp"

namespace npu::cli {

TrackCapacities::TrackCapacities(const workloads::SimulatorView& simulator) {
  // In the order of the cards, both directions of each: events have the links' own names.
  const auto links = simulator.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto direction = links[i].name.substr(links[i].name.rfind('.'));
    bytes_per_second_["pci.link" + std::to_string(i / 2) + direction] =
        links[i].raw_bytes_per_second;
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

}  // namespace npu::cli
