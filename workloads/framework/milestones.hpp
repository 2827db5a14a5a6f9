// SPDX-License-Identifier: Apache-2.0
// Where the time of a DMA command went, read from the stream of timed events
// (docs/reports.md, "Parts of a copy's latency"). The parts are differences of consecutive
// milestones, so they add up to the call's time exactly. What else the driver does on its way (more
// accesses, barriers, doorbells, another way to wait) is measured with the part during which it
// happens.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

enum class RingPlace { kDeviceMemory, kHostMemory };

// The caller's: submit() called, wait() returned.
struct CallSpan {
  Instant called;
  Instant returned;
};

// The moments of one command, as far as they were seen.
struct Milestones {
  std::optional<Instant> entry_begun;       // begin and end of the last kMmioWrite into BAR2
  std::optional<Instant> entry_written;     // before the doorbell
  std::optional<Instant> doorbell_issued;   // begin and end of the first kMmioWrite of
  std::optional<Instant> doorbell_written;  // DMA_DOORBELL
  std::optional<Instant> data_requested;    // end of kEngineStart
  std::optional<Instant> data_written;      // last end of kDataWrite
  std::optional<Instant> completed;         // last end of kCompletion and kHostWrite

  // Events come in the order of their ends.
  void observe(const platform::TraceEvent& event, RingPlace ring);
};

// The parts of a latency, always in this order: submit (the driver's instructions before the
// entry's first store), entry_store, doorbell, engine_start, data, completion; then the wait. With
// the ring in host memory no entry crosses the link: entry_store then ends when the CPU has issued
// entry, barrier and doorbell, and doorbell is the doorbell's flight alone. The event record is a
// command's last write to host memory; without one the command is complete when its engine says so.
// A milestone that lies before its predecessor costs nothing more, one behind the call's return is
// cut off there, and one of the driver's that is missing belongs to the next part. kNotFound: the
// card has not executed the command while this listened; the context names the command and the
// milestone.
Result<Breakdown> latency_parts(const Milestones& milestones, RingPlace ring, CallSpan call,
                                std::uint64_t cause);

// Collects the milestones of every command while it listens.
class MilestoneCollector : public platform::TraceSink {
 public:
  explicit MilestoneCollector(RingPlace ring) : ring_(ring) {}
  void on_event(const platform::TraceEvent& event) override;
  // The breakdown of the command with that cause, dma_cause().
  Result<Breakdown> parts(std::uint64_t cause, CallSpan call) const;

 private:
  RingPlace ring_;
  std::map<std::uint64_t, Milestones> by_cause_;
};

}  // namespace npu::workloads
