// SPDX-License-Identifier: Apache-2.0
// Where the time of a DMA command went, read from the stream of timed events
// (docs/architecture.md, "DMA path"). The parts are differences of consecutive milestones, so they
// add up to the latency exactly.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/report.hpp"

namespace npu::workloads {

enum class RingPlace { kDeviceMemory, kHostMemory };

// The moments of one command, as far as they were seen.
struct Milestones {
  std::optional<Picoseconds> submit_called;     // begin of kDmaSubmit
  std::optional<Picoseconds> submit_returned;   // end of kDmaSubmit: the doorbell has left the CPU
  std::optional<Picoseconds> entry_written;     // end of the last kMmioWrite into BAR2
  std::optional<Picoseconds> doorbell_written;  // end of kMmioWrite of DMA_DOORBELL
  std::optional<Picoseconds> data_requested;    // end of kEngineStart
  std::optional<Picoseconds> data_written;      // last end of kDataWrite
  std::optional<Picoseconds> event_visible;     // end of kEventVisible
  std::optional<Picoseconds> last_host_write;   // end of the last kHostWrite
  std::optional<Picoseconds> wait_returned;     // last end of kEventWait

  void observe(const platform::TraceEvent& event);
};

// The parts of a latency, always in this order: entry_store, doorbell, engine_start, data,
// completion, wait. With the ring in host memory no entry crosses the link: entry_store then ends
// when the CPU has issued entry, barrier and doorbell, that is when submit() returns, and doorbell
// is the doorbell's flight alone. The event record is a command's last write to host memory; a
// model that marks it with kEventVisible is believed.
// kNotFound: a milestone is missing; kOutOfRange: one lies before its predecessor. The context
// names the command and the milestone.
Result<std::vector<Breakdown::Part>> latency_parts(const Milestones& milestones, RingPlace ring,
                                                   std::uint64_t cause);

// Collects the milestones of every command while it listens.
class MilestoneCollector : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;
  // Of the command with that cause, dma_cause(); all empty if nothing was seen.
  Milestones of(std::uint64_t cause) const;
  void clear() { by_cause_.clear(); }

 private:
  std::map<std::uint64_t, Milestones> by_cause_;
};

}  // namespace npu::workloads
