// SPDX-License-Identifier: Apache-2.0
// The stream of timed events. Models, platform, driver and workloads emit them; reports and
// timelines read them. Counters in reports do not come from here.
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
  std::uint64_t cause = 0;  // the work that caused the event; 0: none
  std::uint64_t bytes = 0;
  std::uint64_t detail = 0;  // meaning depends on the activity (activity.hpp)
  std::uint32_t track = 0;   // of the emitter, see Tracer::track()
  Activity activity = Activity::kCount;
};

// The cause of all events of the DMA command at `position` (Ticket::position) of card
// `device_index`.
constexpr std::uint64_t dma_cause(std::uint32_t device_index, std::uint64_t position) {
  return std::uint64_t{device_index + 1} << 48 | (position & 0xFFFF'FFFF'FFFF);
}

// The same for a page copy of the driver. `number` counts since its channel was enabled
// (abi/page_copy.hpp).
constexpr std::uint64_t page_copy_cause(std::uint32_t device_index, std::uint32_t number) {
  return dma_cause(device_index, std::uint64_t{1} << 47 | number);
}

// The same for entry `index` (QueueTicket::index) of queue `queue_id`. Bit 63 marks such causes.
struct QueueCause {
  static constexpr std::uint64_t kMostCard = 0x1FF, kMostQueue = 0x3FFF;
  static constexpr std::uint64_t kMostIndex = 0xFF'FFFF'FFFF;

  static constexpr bool is(std::uint64_t cause) { return cause >> 63 != 0; }
  static constexpr std::uint32_t card(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> 54 & kMostCard);
  }
  static constexpr std::uint32_t queue(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> 40 & kMostQueue);
  }
  static constexpr std::uint64_t index(std::uint64_t cause) { return cause & kMostIndex; }
};
constexpr std::uint64_t queue_cause(std::uint32_t device_index, std::uint32_t queue_id,
                                    std::uint64_t index) {
  return std::uint64_t{1} << 63 | (device_index & QueueCause::kMostCard) << 54 |
         (queue_id & QueueCause::kMostQueue) << 40 | (index & QueueCause::kMostIndex);
}

// The same for task `task` of run `run` (counted from 0 in its context). Bit 62 marks such causes.
struct TaskCause {
  static constexpr std::uint64_t kMostCard = 0x1FF, kMostRun = 0x1F'FFFF;

  static constexpr bool is(std::uint64_t cause) { return cause >> 62 == 1; }
  static constexpr std::uint32_t card(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> 53 & kMostCard);
  }
  static constexpr std::uint32_t run(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause >> 32 & kMostRun);
  }
  static constexpr std::uint32_t task(std::uint64_t cause) {
    return static_cast<std::uint32_t>(cause);
  }
};
constexpr std::uint64_t task_cause(std::uint32_t device_index, std::uint64_t run,
                                   std::uint32_t task) {
  return std::uint64_t{1} << 62 | (device_index & TaskCause::kMostCard) << 53 |
         (run & TaskCause::kMostRun) << 32 | task;
}

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on_event(const TraceEvent& event) = 0;
  // False: events of this activity are nothing to it; it may get them or not. It never changes.
  virtual bool hears(Activity) const { return true; }
};

// Emitters test enabled() first, so that an unused trace costs almost nothing.
class Tracer {
 public:
  virtual ~Tracer() = default;
  bool enabled() const { return enabled_; }
  // The id of track `name`, such as "host.cpu3" or "card0.dma.engine1". The same name has the same
  // id. Emitters look it up once.
  virtual std::uint32_t track(std::string_view name) = 0;
  virtual void emit(const TraceEvent& event) = 0;
  // Sets the cause of later events of the calling task, and returns the previous one.
  virtual std::uint64_t exchange_cause(std::uint64_t cause) = 0;

 protected:
  bool enabled_ = false;
};

// Sets the cause of the calling task's events until the end of the scope.
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
