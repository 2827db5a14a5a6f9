// SPDX-License-Identifier: Apache-2.0
// Replays an address pattern on the channels of an HBM as the public DRAM simulators' trace
// front ends do, to compare with them: injection in order, head of line blocking over all channels,
// at most one burst per channel and clock. No SystemC; nothing between source and controllers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/hbm/address_map.hpp"
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

// The patterns of shared reference measurements; addresses within `span` bytes, in requests of
// `request` bytes. Random numbers: splitmix64 seeded 12345.
enum class Pattern : std::uint8_t {
  kSequential,  // seq_rd
  kRandom,      // rand_rd
  kStride4K,    // stride4k: one request per 4 KiB, then the next column of each
  kStreams16,   // streams16_r64: 16 sequential streams in turn, random 64-byte aligned bases
};
std::vector<std::uint64_t> make_pattern(Pattern pattern, std::uint64_t count, Bytes request,
                                        Bytes span = Bytes{4} << 30);

struct ReplayResult {
  Clock clocks = 0;           // until the last data
  double latency_clocks = 0;  // mean, from acceptance to data
  std::uint64_t requests = 0;
  // Bytes moved over bytes the data buses of all channels can move.
  double bandwidth_fraction = 0;
};

// Reads at these byte addresses, one burst each. `outstanding`: at most so many at once; 0: as many
// as the controllers accept. With the shared-queue policy each channel has a port that holds one
// burst in front of its queue; acceptance is acceptance by the port.
ReplayResult replay_reads(const HbmConfig& config, const std::vector<std::uint64_t>& addresses,
                          std::uint64_t outstanding);

}  // namespace npu::model::hbm
