// SPDX-License-Identifier: Apache-2.0
// Replays accesses on the channels of a memory as the public DRAM simulators' trace front ends do,
// to compare with them: injection in order, head of line blocking over all channels, at most one
// burst per channel and clock. No SystemC; nothing between source and controllers.
#pragma once

#include "model/config/replay_config.hpp"
#include "model/hbm/access_pattern.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::hbm {

struct LatencySum {
  std::uint64_t requests = 0;
  Clock clocks = 0;  // from acceptance of the first burst to the response of the last, added up
};

struct ReplayResult {
  Clock clocks = 0;  // until the last response
  LatencySum reads;
  LatencySum writes;
  Bytes bytes = 0;
  // Bytes that the data buses of all channels can move in `bus_clocks` clocks.
  Bytes bus_bytes = 0;
  unsigned bus_clocks = 0;

  std::uint64_t requests() const { return reads.requests + writes.requests; }
  double latency_clocks() const {
    return static_cast<double>(reads.clocks + writes.clocks) / static_cast<double>(requests());
  }
  // Bytes moved over bytes that could have been.
  double bandwidth_fraction() const {
    return static_cast<double>(bytes) * bus_clocks /
           (static_cast<double>(clocks) * static_cast<double>(bus_bytes));
  }
};

// Accesses of `request` bytes each, a multiple of the burst. `outstanding`: at most so many at
// once; 0: as many as the controllers accept. can_replay(config) must hold.
ReplayResult replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request,
                    std::uint64_t outstanding);

}  // namespace npu::model::hbm
