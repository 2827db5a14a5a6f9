// SPDX-License-Identifier: Apache-2.0
// What the models count, as far as a report names it as a limit. Counters only grow; a workload
// takes a snapshot before and after and reports the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::workloads {

// One direction of one link.
struct LinkCounters {
  std::string name;                        // "card0.link.down": towards the card; ".up": from it
  std::string track;                       // of its events
  std::uint64_t raw_bytes_per_second = 0;  // after encoding, before any TLP overhead
  Picoseconds busy;                        // time the wire carried TLPs and DLLPs
  std::uint64_t tlps = 0;
  Bytes payload = 0;         // data of TLPs
  Bytes header = 0;          // TLP headers, framing, sequence numbers, CRC
  Bytes dllp = 0;            // acknowledgements and credit updates
  Picoseconds credit_stall;  // the wire stood idle with a TLP waiting for credits
};

// One direction of a link of the fabric between cards.
struct PeerLinkCounters {
  // "hccs0_1.up": from card 0 to card 1, the higher index; ".down": back. "fabric_card0_l1sw0.up":
  // from card 0 to a switch.
  std::string name;
  std::uint64_t raw_bytes_per_second = 0;  // one direction, on the wire
  Picoseconds busy;                        // time the wire carried packets
  std::uint64_t messages = 0;              // requests and responses
  Bytes payload = 0;
  Bytes wire = 0;         // payload and the packets' overhead
  Bytes queue_peak = 0;   // data that waited for it, at most
  bool switched = false;  // has a switch or NIC at an end
};

// Device memory of one card, summed over its pseudo channels. The six times say what their data
// buses did; together they are the elapsed time times the number of pseudo channels.
struct MemoryCounters {
  std::string name;                         // "card0.hbm"
  std::uint64_t peak_bytes_per_second = 0;  // reads and writes share it
  Bytes read = 0;
  Bytes written = 0;
  std::uint64_t bursts_read = 0;
  std::uint64_t bursts_written = 0;
  std::uint64_t row_hits = 0;    // bursts that found their row open
  std::uint64_t row_misses = 0;  // bursts that had to activate a row
  std::uint64_t refreshes = 0;
  Picoseconds data;        // carried data
  Picoseconds refresh;     // a refresh was due or in flight
  Picoseconds turnaround;  // changed between reads and writes
  Picoseconds row;         // waited for rows to be closed and opened
  Picoseconds column;      // rows open, but the gap between column commands in the way
  Picoseconds idle;        // nothing was queued

  Picoseconds total() const { return data + refresh + turnaround + row + column + idle; }
};

// Address translation of one card.
struct MmuCounters {
  std::string name;  // "card0.mmu"
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;  // of the TLB, requests that joined a walk in flight included
  std::uint64_t walks = 0;
  std::uint64_t entries_read = 0;  // from memory, by walks
};

// The cache that the programs of one card's cores share; lines unless said otherwise. The times are
// sums over the slices, `blocked` one over requests.
struct L2Counters {
  std::string name;                         // "card0.l2"
  std::uint64_t peak_bytes_per_second = 0;  // of all slices, reads and writes together
  unsigned slices = 0;
  Bytes read = 0;  // that the cores asked for
  Bytes written = 0;
  std::uint64_t hits = 0;    // reads and writes; lines on their way included
  std::uint64_t misses = 0;  // reads and writes
  std::uint64_t write_backs = 0;
  Bytes fetched = 0;          // from the HBM
  Bytes written_back = 0;     // to the HBM
  std::uint64_t snooped = 0;  // dropped because others wrote them
  Picoseconds busy;           // moved bytes
  Picoseconds queued;         // lines waited for their slice
  Picoseconds blocked;        // requests waited for a miss or write buffer
};

// A counter of the report, of the whole run (docs/reports.md).
struct RunCounter {
  std::string name;                    // "card0.dma.commands"
  std::optional<std::uint64_t> value;  // nothing: it is not counted in this run
  const char* unit;                    // "B", or ""
  bool per_submission;                 // told for each submission, too
};

// What programs on AICPUs have done in a phase that they said they were in (platform::AicpuPhase).
struct AicpuPhase {
  std::string name;
  std::optional<std::uint64_t> instructions;  // where they are counted
  std::uint64_t loads = 0, misses = 0, stores = 0, register_accesses = 0;
};

// Time that copies of one function of a divided card waited for their turn, and on what.
struct FunctionWaits {
  std::string name;  // "card0.vf2"; "card0" is the physical function
  Picoseconds link_to_card, link_to_host, hbm;
};

class SimulatorView {
 public:
  virtual ~SimulatorView() = default;
  virtual Picoseconds simulated_time() const = 0;
  virtual std::vector<LinkCounters> links() const = 0;        // in order of the topology
  virtual std::vector<MemoryCounters> memories() const = 0;   // in order of card index
  virtual std::vector<MmuCounters> mmus() const = 0;          // in order of card index
  virtual std::vector<L2Counters> l2s() const { return {}; }  // of the cards that have one
  virtual std::vector<PeerLinkCounters> peer_links() const { return {}; }  // in order of the cards
  virtual std::vector<RunCounter> counters() const { return {}; }  // "host.submissions" comes first
  // Where stores may overtake others (host.cpu.order=weak): the first of those that something which
  // a card acts on has overtaken, in words.
  virtual std::vector<std::string> overtaken_stores() const { return {}; }
  // With core.hazards: accesses of programs of AI Cores that nothing orders, in words.
  virtual std::vector<std::string> hazards() const { return {}; }
  // In the order of AicpuPhase.
  virtual std::vector<AicpuPhase> aicpu_phases(std::size_t /*card*/) const { return {}; }
  // Of all functions there can be, the physical one first, by card.
  virtual std::vector<FunctionWaits> function_waits() const { return {}; }
  virtual std::uint64_t events() const { return 0; }  // that the models have served
};

}  // namespace npu::workloads
