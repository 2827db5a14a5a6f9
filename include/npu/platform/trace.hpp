// SPDX-License-Identifier: Apache-2.0
// The one stream of timed events that every figure of a report comes from. Models, platform and
// driver emit; reports and timelines only read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "npu/base/units.hpp"

namespace npu::platform {

// What happened between begin and end. Names are stable: reports and timelines print them.
enum class Activity : std::uint16_t {
  // host software
  kDmaSubmit,      // driver: from the call to the return of a DMA submission
  kEventWait,      // driver: from the call to the return of an event wait
  kCpuBusy,        // platform: a task computes, stores or polls
  kCpuIdle,        // platform: a task is blocked
  kContextSwitch,  // platform: a task is put to sleep or woken
  kStage,          // workload: a named stage
  // PCI Express
  kTlp,           // link: one or more TLPs of a transaction, first byte sent to last received;
                  // bytes = payload, detail = bytes on the wire
  kMmioWrite,     // endpoint: a posted write took effect at its register or in device memory
  kMmioRead,      // host: a non-posted read, request to completion
  kConfigAccess,  // host: a configuration read or write
  kHostRead,      // root complex: a DMA read of host memory, request to data
  kHostWrite,     // root complex: a DMA write of host memory, arrival to visible; a command's
                  // event record is its last one
  kInterrupt,     // host: an MSI-X message arrived, until the handler has run; detail = vector
  // DMA
  kDescriptorFetch,  // engine: the ring entries' read; detail = number of entries
  kEngineStart,      // engine: command dispatched to an engine until its first data request
  kDataRead,         // engine: a data chunk, request to data
  kDataWrite,        // engine: a data chunk, request to written
  kCompletion,       // engine: last data written until event and interrupt are sent
  kEventVisible,     // host memory: an event record was written (end); detail = event id
  kCommand,          // engine: dispatched to completed; detail = opcode << 16 | stream
  kFault,            // any model: detail = abi::FaultCode
  kPageWalk,         // MMU: a translation missed in the TLB until it is known; detail = entries
                     // read from memory
  // Compute queues (docs/compute-queues.md); detail = queue id unless said otherwise
  kQueueDoorbell,  // command processor: a doorbell was written until it was looked at
  kQueueMap,       // a queue is loaded into a slot: descriptor and indices read
  kQueueUnmap,     // a queue is unloaded: from the decision until its descriptor is written
  kQueueFetch,     // read of submission entries; detail = number of entries
  kQueueDecode,    // an entry waits for its turn and is decoded
  kQueueDispatch,  // decoded until an engine or a core has taken it
  kQueueWait,      // an event wait, or an entry that waits for those before it
  kQueueCommand,   // an entry, decoded until complete; detail = opcode << 16 | queue id
  kQueueComplete,  // work done until completion entry and MSI-X are sent
  kQueueManage,    // a management command; detail = ManagementOpcode
  kKernelBlock,    // AI Core: one block of a kernel; detail = function id << 32 | block
  // HBM
  kHbmRead,     // a transaction, accepted to last data
  kHbmWrite,    // a transaction, accepted to last data
  kHbmRefresh,  // a pseudo channel cannot serve
  kCount,
};

constexpr std::string_view to_string(Activity activity) {
  switch (activity) {
    case Activity::kDmaSubmit:
      return "dma_submit";
    case Activity::kEventWait:
      return "event_wait";
    case Activity::kCpuBusy:
      return "cpu_busy";
    case Activity::kCpuIdle:
      return "cpu_idle";
    case Activity::kContextSwitch:
      return "context_switch";
    case Activity::kStage:
      return "stage";
    case Activity::kTlp:
      return "tlp";
    case Activity::kMmioWrite:
      return "mmio_write";
    case Activity::kMmioRead:
      return "mmio_read";
    case Activity::kConfigAccess:
      return "config_access";
    case Activity::kHostRead:
      return "host_read";
    case Activity::kHostWrite:
      return "host_write";
    case Activity::kInterrupt:
      return "interrupt";
    case Activity::kDescriptorFetch:
      return "descriptor_fetch";
    case Activity::kEngineStart:
      return "engine_start";
    case Activity::kDataRead:
      return "data_read";
    case Activity::kDataWrite:
      return "data_write";
    case Activity::kCompletion:
      return "completion";
    case Activity::kEventVisible:
      return "event_visible";
    case Activity::kCommand:
      return "command";
    case Activity::kFault:
      return "fault";
    case Activity::kPageWalk:
      return "page_walk";
    case Activity::kQueueDoorbell:
      return "queue_doorbell";
    case Activity::kQueueMap:
      return "queue_map";
    case Activity::kQueueUnmap:
      return "queue_unmap";
    case Activity::kQueueFetch:
      return "queue_fetch";
    case Activity::kQueueDecode:
      return "queue_decode";
    case Activity::kQueueDispatch:
      return "queue_dispatch";
    case Activity::kQueueWait:
      return "queue_wait";
    case Activity::kQueueCommand:
      return "queue_command";
    case Activity::kQueueComplete:
      return "queue_complete";
    case Activity::kQueueManage:
      return "queue_manage";
    case Activity::kKernelBlock:
      return "kernel_block";
    case Activity::kHbmRead:
      return "hbm_read";
    case Activity::kHbmWrite:
      return "hbm_write";
    case Activity::kHbmRefresh:
      return "hbm_refresh";
    case Activity::kCount:
      break;
  }
  return "?";
}

struct TraceEvent {
  Picoseconds begin;
  Picoseconds end;          // >= begin
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

// The cause shared by everything done for the entry with number `index` (from 0, since the queue
// was made) of queue `queue_id` of card `device_index`. Bit 63 tells it from a DMA command's.
constexpr std::uint64_t queue_cause(std::uint32_t device_index, std::uint32_t queue_id,
                                    std::uint64_t index) {
  return std::uint64_t{1} << 63 | (std::uint64_t{device_index} & 0x7F) << 56 |
         (std::uint64_t{queue_id} & 0xFFFF) << 40 | (index & 0xFF'FFFF'FFFF);
}

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void on_event(const TraceEvent& event) = 0;
};

// Emitters test enabled() first, so that a trace that nobody reads costs one load and a branch.
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
  CauseScope(Tracer& tracer, std::uint64_t cause) : tracer_(tracer), on_(tracer.enabled()) {
    if (on_) previous_ = tracer_.exchange_cause(cause);
  }
  ~CauseScope() {
    if (on_) tracer_.exchange_cause(previous_);
  }
  CauseScope(const CauseScope&) = delete;
  CauseScope& operator=(const CauseScope&) = delete;

 private:
  Tracer& tracer_;
  std::uint64_t previous_ = 0;
  bool on_;
};

}  // namespace npu::platform
