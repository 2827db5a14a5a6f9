// SPDX-License-Identifier: Apache-2.0
// Where the time of one entry of a compute queue went (docs/compute-queues.md, "Life of a
// submission"). The parts are differences of consecutive milestones and add up to the call's time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/platform/trace.hpp"
#include "workloads/framework/milestones.hpp"
#include "workloads/framework/reporting.hpp"

namespace npu::workloads {

// The parts, in this order:
//   submit           until the doorbell leaves the CPU: entry into the ring, barrier
//   doorbell         the doorbell's flight to the card
//   doorbell_decode  until the command processor has looked at it
//   map              until the queue is in a slot; 0 if it was
//   fetch            until the entry is read
//   decode           until the entry is decoded
//   dispatch         until all it waits for is done and an engine or core has taken it
//   work             until the last byte is written
//   completion       until the completion entry is visible to who waits
// and then the wait, until wait() returns.
inline constexpr unsigned kQueueParts = 9;

// Collects the milestones of entries while it listens, if it is known which entry of which queue
// comes next: events of the queue itself (doorbell, map, fetch) count for it.
class QueueMilestones : public platform::TraceSink {
 public:
  void on_event(const platform::TraceEvent& event) override;
  // A milestone that lies before its predecessor costs nothing more, one behind the call's return
  // is cut off there. kNotFound: the card has not executed the entry while this listened.
  Result<Breakdown> parts(std::uint64_t cause, CallSpan call) const;

 private:
  // Ends of the parts.
  using Moments = std::array<std::optional<Instant>, kQueueParts>;
  void observe(Moments& moments, const platform::TraceEvent& event) const;

  std::map<std::uint64_t, Moments> by_cause_;
  std::map<Instant, Instant> stores_;  // into BAR2: end and begin
};

}  // namespace npu::workloads
