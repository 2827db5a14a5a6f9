// SPDX-License-Identifier: Apache-2.0
// The one stream of timed events that every figure of a report comes from. Models, platform and
// driver emit; reports and timelines only read.
#pragma once

#include <array>
#include <cstddef>
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
  kKernelCall,     // AI Core: a program run by another one; detail = block
  kTaskSetup,      // AI Core: a program has found what it polled for (a dispatch id, its line),
                   // until the first instruction of the one it calls then; detail = block
  kPipe,           // AI Core: an instruction of a pipe; detail = platform::Pipe
  // AICPU: a program's phases (AicpuPort::phase); detail = task, ~0: none
  kAicpuIdle,
  kAicpuHandshake,
  kAicpuWiring,
  kAicpuDispatch,
  kAicpuComplete,
  kAicpuDrain,
  kAicpuDump,
  // HBM
  kHbmRead,     // a transaction, accepted to last data
  kHbmWrite,    // a transaction, accepted to last data
  kHbmRefresh,  // a pseudo channel cannot serve
  kCount,
};

// In the order of the enumeration.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Activity::kCount)>
    kActivityNames{
        "dma_submit",     "event_wait",   "cpu_busy",        "cpu_idle",         "context_switch",
        "stage",          "tlp",          "mmio_write",      "mmio_read",        "config_access",
        "host_read",      "host_write",   "interrupt",       "descriptor_fetch", "engine_start",
        "data_read",      "data_write",   "completion",      "event_visible",    "command",
        "fault",          "page_walk",    "queue_doorbell",  "queue_map",        "queue_unmap",
        "queue_fetch",    "queue_decode", "queue_dispatch",  "queue_wait",       "queue_command",
        "queue_complete", "queue_manage", "kernel_block",    "kernel_call",      "task_setup",
        "pipe",           "aicpu_idle",   "aicpu_handshake", "aicpu_wiring",     "aicpu_dispatch",
        "aicpu_complete", "aicpu_drain",  "aicpu_dump",      "hbm_read",         "hbm_write",
        "hbm_refresh",
    };

constexpr std::string_view to_string(Activity activity) {
  const auto index = static_cast<std::size_t>(activity);
  return index < kActivityNames.size() ? kActivityNames[index] : "?";
}
static_assert(to_string(Activity::kDmaSubmit) == "dma_submit" &&
              to_string(Activity::kKernelBlock) == "kernel_block" &&
              to_string(Activity::kAicpuDump) == "aicpu_dump" &&
              to_string(Activity::kHbmRefresh) == "hbm_refresh");

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
