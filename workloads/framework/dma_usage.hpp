// SPDX-License-Identifier: Apache-2.0
// What kept more bytes of DMA commands from being in flight, from the events of one card's engines
// and of the host task that submits to them: at each moment one cause.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "npu/platform/trace.hpp"

namespace npu::workloads {

// The DMA engines of a card, as configured.
struct DmaEngines {
  unsigned count = 0;
  Picoseconds setup;               // of a command, before its first data request
  unsigned outstanding_reads = 0;  // most over the link, per engine
};

enum class DmaCause : std::uint8_t {
  kEngines,   // all engines have a command
  kOrder,     // an engine is free, but what waits belongs behind commands that another one has
  kFetch,     // an engine is free, and several commands lie in the ring
  kHost,      // an engine is free, nothing waits, and the host does not wait for the card
  kInFlight,  // an engine is free, nothing waits, and the host waits for a command to end
  kCount,
};

class DmaUsage : public platform::TraceSink {
 public:
  DmaUsage(std::uint32_t device_index, const DmaEngines& engines, Instant begin)
      : device_index_(device_index), engines_(engines), last_(begin) {}

  void on_event(const platform::TraceEvent& event) override;
  // Once, behind the last event.
  void finish(Instant end) { sweep(end); }

  // Of the time between begin and end.
  Picoseconds time(DmaCause cause) const { return times_[static_cast<std::size_t>(cause)]; }
  // Reads in flight while engines moved data, on average, in percent of the most they may have.
  std::int64_t reads_percent() const;

 private:
  enum class Kind : std::uint8_t { kSubmitted, kDispatched, kStarted, kEnded, kWaits, kGoesOn };
  struct Change {
    Instant when;
    std::uint64_t order;  // of arrival
    Kind kind;
    bool operator>(const Change& other) const {
      return when != other.when ? when > other.when : order > other.order;
    }
  };
  // More than ring and engines can hold: what was submitted before so many others is over.
  static constexpr std::size_t kMostOpen = 1 << 17;

  void add(Instant when, Kind kind) { changes_.push({when, next_order_++, kind}); }
  void submitted(const platform::TraceEvent& event);
  void sweep(Instant until);
  void pass(Instant when);
  void apply(Kind kind);
  DmaCause cause() const;

  const std::uint32_t device_index_;
  const DmaEngines engines_;
  // An event comes when what it tells of has ended, so changes are known late and out of order.
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  std::uint64_t next_order_ = 0;
  std::deque<Instant> submissions_;  // the last kMostOpen
  Instant last_;                     // swept up to here
  std::int64_t in_ring_ = 0, in_queues_ = 0, executing_ = 0;
  bool host_waits_ = false;
  std::array<Picoseconds, static_cast<std::size_t>(DmaCause::kCount)> times_{};
  Picoseconds reading_, moving_;  // added up over requests, over engines
};

}  // namespace npu::workloads
