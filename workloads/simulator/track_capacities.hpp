// SPDX-License-Identifier: Apache-2.0
// What links and memories carry at most, by the names that events have for them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workloads/framework/simulator_view.hpp"

namespace npu::workloads {

class TrackCapacities {
 public:
  TrackCapacities() = default;
  explicit TrackCapacities(const SimulatorView& simulator);
  // Bytes per second, of a link on the wire; 0: the unit has no such figure.
  std::uint64_t of(const std::string& track) const;

 private:
  std::map<std::string, std::uint64_t> bytes_per_second_;
};

}  // namespace npu::workloads
