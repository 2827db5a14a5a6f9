// SPDX-License-Identifier: Apache-2.0
// The one stream of timed events. Models, platform, driver and workloads emit; reports and
// timelines only read. A report also has counters, which models and driver keep themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"
#include "npu/platform/activity.hpp"

namespace npu::platform {

struct TraceEvent {
  Instant begin;
  Instant end;              // >= begin
  std::uint64_t cause = 0;  // what this was done for; 0: nothing in particular
  std::uint64_t bytes = 0;
  std::uint64_t detail = 0;  // see Activity
  std::uint32_t track = 0;   // who, see Tracer::track()
  Activity activity = Activity::kCount;
};

// The cause shared by everything done for the DMA command at `position` (commands since the
// queue was enabled, from 0) of card `device_index`.
constexpr std::uint64_t dma_cause(std::uint32_t device_index, std::uint64_t position) {
  return std::uint64_t{device_index + 1} << 48 | (position & 0xFFFF'FFFF'FFFF);
}

// The same of a page copy of the driver's own, whose number since the channel was enabled is
// `number` (abi/page_copy.hpp).
constexpr std::uint64_t page_copy_cause(std::uint32_t device_index, std::uint32_t number) {
  return dma_cause(device_index, std::uint64_t{1} << 47 | number);
}

// The cause shared by everything done for the entry with number `index` (from 0, since the queue
// was made) of queue `queue_id` of card `device_index`. Bit 63 tells it from a DMA command's.
constexpr std::uint64_t queue_cause(std::uint32_t device_index, std::uint32_t queue_id,
                                    std::uint64_t index) {
  return std::uint64_t{1} << 63 | (std::uint64_t{device_index} & 0x7F) << 56 |
         (std::uint64_t{queue_id} & 0xFFFF) << 40 | (index & 0xFF'FFFF'FFFF);
}

// The cause shared by what tells of task `task` of the run with number `run` (from 0, of its
// context) on card `device_index`. Bit 62 tells it from the others.
constexpr std::uint64_t task_cause(std::uint32_t device_index, std::uint64_t run,
                                   std::uint32_t task) {
  return std::uint64_t{1} << 62 | (std::uint64_t{device_index} & 0x3F) << 56 |
         (run & 0xFF'FFFF) << 32 | task;
}

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on_event(const TraceEvent& event) = 0;
};

// Emitters test enabled() first, so that a trace that nobody reads costs next to nothing.
class Tracer {
 public:
  virtual ~Tracer() = default;
  bool enabled() const { return enabled_; }
  // The id of the track called `name` ("host.cpu3", "card0.dma.engine1"); the same for every call
  // with the same name. Emitters look it up once.
  virtual std::uint32_t track(std::string_view name) = 0;
  virtual void emit(const TraceEvent& event) = 0;
  // The cause attached to what the calling task does from now on; returns the previous one.
  virtual std::uint64_t exchange_cause(std::uint64_t cause) = 0;

 protected:
  bool enabled_ = false;
};

// Attaches a cause to the calling task's accesses until the end of the scope.
class CauseScope {
 public:
  CauseScope(Tracer& tracer, std::uint64_t cause)
      : tracer_(tracer), previous_(tracer.exchange_cause(cause)) {}
  ~CauseScope() { tracer_.exchange_cause(previous_); }
  CauseScope(const CauseScope&) = delete;
  CauseScope& operator=(const CauseScope&) = delete;

 private:
  Tracer& tracer_;
  const std::uint64_t previous_;
};

}  // namespace npu::platform
