// SPDX-License-Identifier: Apache-2.0
// What the models count, as far as a report names it as a limit. Counters only grow; a workload
// takes a snapshot before and after and reports the difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::workloads {

// One direction of one link.
struct LinkCounters {
  std::string name;                        // "card0.link.down": towards the card; ".up": from it
  std::uint64_t raw_bytes_per_second = 0;  // after encoding, before any TLP overhead
  Picoseconds busy;                        // time the wire carried TLPs and DLLPs
  std::uint64_t tlps = 0;
  Bytes payload = 0;  // data of TLPs
  Bytes header = 0;   // TLP headers, framing, sequence numbers, CRC
  Bytes dllp = 0;     // acknowledgements and credit updates
};

// Device memory of one card, summed over its pseudo channels. Times are sums over the pseudo
// channels too: compare them with elapsed time * pseudo_channels.
struct MemoryCounters {
  std::string name;                         // "card0.hbm"
  std::uint64_t peak_bytes_per_second = 0;  // reads and writes share it
  std::uint64_t pseudo_channels = 0;
  Bytes read = 0;
  Bytes written = 0;
  std::uint64_t row_hits = 0;    // bursts that found their row open
  std::uint64_t row_misses = 0;  // bursts that had to activate a row
  std::uint64_t refreshes = 0;
  Picoseconds data_busy;   // data bus carried data
  Picoseconds refresh;     // with work queued, nothing could be sent because of a refresh
  Picoseconds row_miss;    // ... because rows had to be closed and opened
  Picoseconds turnaround;  // ... because the bus changed between reads and writes
};

class SimulatorView {
 public:
  virtual ~SimulatorView() = default;
  virtual Picoseconds simulated_time() const = 0;
  virtual std::vector<LinkCounters> links() const = 0;       // in order of the topology
  virtual std::vector<MemoryCounters> memories() const = 0;  // in order of card index
};

}  // namespace npu::workloads
