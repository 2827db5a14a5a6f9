// SPDX-License-Identifier: Apache-2.0
// Replays accesses on the channels of a memory as the public DRAM simulators' trace front ends do,
// to compare with them: injection in order, head of line blocking over all channels, at most one
// burst per channel and clock. Or with a source per channel, so that only the controllers bind. No
// SystemC; nothing between source and controllers.
#pragma once

#include "workloads/replay/access_pattern.hpp"
#include "workloads/replay/replay_config.hpp"

namespace npu::replay {

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

enum class ReplaySource : std::uint8_t {
  kShared,      // one, in order: a request whose channel is full holds up all behind it
  kPerChannel,  // one for each channel's requests, each of which lies in one channel
};

// Whether every access lies in one channel.
bool in_one_channel(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request);

// Accesses of `request` bytes each, a multiple of the burst. `outstanding`: at most so many at
// once, of each source; 0: as many as the controllers accept. can_replay(config) must hold, and
// in_one_channel() for a source per channel.
ReplayResult replay(const ReplayConfig& config, const std::vector<Access>& accesses, Bytes request,
                    std::uint64_t outstanding, ReplaySource source = ReplaySource::kShared);

}  // namespace npu::replay
