// SPDX-License-Identifier: Apache-2.0
// An opened card. All members may be called from several tasks at once. After the card is gone
// (surprise removal, link down) every member answers kDeviceLost at once.
#pragma once

#include <memory>
#include <optional>

#include "npu/base/result.hpp"
#include "npu/base/units.hpp"
#include "npu/driver/address_space.hpp"
#include "npu/driver/compaction.hpp"
#include "npu/driver/dma.hpp"
#include "npu/driver/event.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/fault.hpp"
#include "npu/driver/memory.hpp"
#include "npu/driver/scan.hpp"
#include "npu/driver/stream.hpp"
#include "npu/driver/types.hpp"
#include "npu/driver/unified_addresses.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

// What users of a card may have of its driver. What is off is refused (kUnsupported), or not told.
struct DeviceFeatures {
  bool managed_memory = true;    // ManagedMemory::open()
  bool managed_prefetch = true;  // ManagedMemory::prefetch()
  bool managed_advice = true;    // ManagedMemory::advise()
  bool host_pages = true;        // FaultPolicy::kAts
  bool fault_counter = true;     // faults and fault_errors of ManagedStatistics; off: 0
  bool resident_bytes = true;    // the same of resident_bytes
  bool managed_quota = true;     // managed pages count in a MemoryQuota; off: they do not
  bool reservations = true;      // AddressSpace::reserve()
  bool core_limits = true;       // ProcessContext::update() of a core mask
  bool tokens = true;            // a CoreQuota with a token
  bool share_updates = true;     // TimeSliceScheduler::set_share()
};

struct DeviceOptions {
  RingPlacement ring = RingPlacement::kDeviceMemory;
  Picoseconds ready_timeout = 100_ms;   // DEVICE_STATUS.Ready, queue idle
  Picoseconds submit_timeout = 100_ms;  // bounded retry on a full ring
  AdaptiveOptions adaptive;
  // When memory is free but not in one piece: move blocks to make it so.
  bool compact_on_demand = true;
  Picoseconds compaction_timeout = 1_s;  // queue idle, and each stage of the copies
  DeviceFeatures features;
};

class NPU_API Device {
 public:
  // Initialises the card: memory decode and bus mastering, MSI-X, event records, ring. What a
  // driver that is gone has left is cleared: a latched fault, and by a reset of the function
  // compute queues and engines that do not end. `platform` must outlive the device. kNotFound,
  // kUnsupported, kBadDevice, kDeviceLost, kTimeout and what the platform reports; the context
  // names the step.
  static Result<std::unique_ptr<Device>> open(platform::Platform& platform, platform::Bdf bdf,
                                              const DeviceOptions& options = {});
  // The card whose DEVICE_INDEX register says `index`; scans for it.
  static Result<std::unique_ptr<Device>> open_index(platform::Platform& platform,
                                                    std::uint32_t index,
                                                    const DeviceOptions& options = {});
  ~Device();  // shuts down, waiting at most ready_timeout
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Waits until the queue is idle, disables it and bus mastering. Idempotent; later calls of the
  // other members fail with kInvalidArgument.
  Status shutdown();
  // Disables and re-enables the queue: forgets latched faults and everything in flight. Waits for
  // tickets from before end with kAborted; submissions meanwhile wait, each at most submit_timeout.
  // kTimeout if the card does not become idle; submissions fail with kAborted then, until a reset
  // succeeds.
  Status reset_queue();

  const CardInfo& info() const;
  // Whether there is an HCCS link to the card of that DEVICE_INDEX now. kDeviceLost.
  Result<bool> has_link_to(std::uint32_t index) const;
  bool lost() const;

  // --- Device memory (address_space.hpp). Every device has a default space; allocate() and free()
  // are its. The memory of one with a quota counts for that (quota.hpp); `addresses`: those that it
  // is not to share with other cards' spaces (unified_addresses.hpp). kOutOfResources: all address
  // spaces, or windows of addresses, in use.
  AddressSpace& address_space();
  Result<std::unique_ptr<AddressSpace>> create_address_space(
      ProcessId process = {}, std::shared_ptr<MemoryQuota> quota = {},
      std::shared_ptr<UnifiedAddresses> addresses = {});
  Result<DeviceMemory> allocate(Bytes size, const MemoryOptions& options = {});
  Status free(DeviceAddress address);
  MemoryStatistics memory_statistics() const;
  // Moves blocks until `wanted` bytes are free in one piece. All submissions wait meanwhile, each
  // at most submit_timeout; waits, tickets and addresses stay valid. kInvalidArgument: 0 bytes;
  // kOutOfMemory: not that much is free, or pinned blocks are in the way; kOutOfResources,
  // kTimeout, kDeviceFault, kDeviceLost: a step failed, and every block holds what it held. One
  // that was on its way to a place that overlaps its own stays in two pieces of memory then, and is
  // not moved any more, which nobody sees but who wants to lend it to another card. What the card
  // may still use then is in quarantine (memory_statistics()) until a later compaction, or an
  // allocation that needs it, finds the card done with it. kBusy: copies of an earlier one still
  // run.
  Result<CompactionReport> compact(Bytes wanted);
  CompactionStatistics compaction_statistics() const;
  // Host memory for DMA; returned to the platform when the object is destroyed, which must be
  // before the device is.
  Result<std::unique_ptr<platform::DmaMemory>> allocate_host(
      Bytes size, platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // --- Streams. kOutOfResources: all in use; kOutOfRange: placement kBar0.
  Result<StreamId> create_stream(const StreamOptions& options = {});
  // Waits until the stream's commands are done. kTimeout: busy at `deadline`, still usable.
  Status destroy_stream(StreamId stream, Instant deadline);
  // The stream's own event (kStreamEvent).
  Result<EventId> stream_event(StreamId stream) const;

  // --- Events, for commands that shall be waited for together. An event that has seen a fault
  // reports it in every later wait until reset_queue(); destroy it and take another. If several
  // streams count one event up, an interrupt may come on another stream's vector than the one
  // waited for; the wait then ends at its next fallback poll.
  Result<EventId> create_event();
  Status destroy_event(EventId event);

  // --- DMA. submit() returns when the card may see the command, before it executes.
  // kInvalidArgument, kOutOfRange: size 0, address + size overflows; kQueueFull: full for
  // submit_timeout, nothing was queued; kNotFound: no such stream or event. Whether an address is
  // mapped is for the card to find: such a command ends with a fault.
  Result<Ticket> submit(StreamId stream, const DmaCommand& command,
                        const SubmitOptions& options = {});
  // One look, no waiting. A command older than 1 ms is also asked for at the card, at most once in
  // 1 ms for an event, in case what the card has written of its end was lost. Fails as wait().
  Result<bool> is_done(const Ticket& ticket);
  // `deadline` is a time of platform.clock(). kTimeout; kDeviceFault: the event has seen a failed
  // command; kUnsupported: kInterrupt on a stream without interrupts; kAborted: reset_queue(), or
  // the card itself was reset.
  Status wait(const Ticket& ticket, WaitPolicy policy, Instant deadline);
  // submit() and wait().
  Status copy(StreamId stream, const DmaCommand& command, WaitPolicy policy, Instant deadline);

  DmaStatistics dma_statistics() const;
  WaitStatistics wait_statistics() const;

  // The first fault since the last call, cleared on the card; nullopt if there was none.
  Result<std::optional<FaultReport>> take_fault();

  struct Impl;  // the driver's own

 private:
  friend struct DeviceParts;  // the driver's own
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
