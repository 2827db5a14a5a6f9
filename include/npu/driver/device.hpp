// SPDX-License-Identifier: Apache-2.0
// An open card. Every program opens a Device first. All members may be called from several tasks at
// once.
//
// After shutdown() they fail with kInvalidArgument. After the loss of the card (surprise removal,
// link down) they fail with kDeviceLost at once. kIo means that registers read as all ones although
// the card answers configuration reads.
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

// Features of the driver that can be switched off. A call that needs one then fails with
// kUnsupported.
struct DeviceFeatures {
  bool managed_memory = true;    // ManagedMemory::open()
  bool managed_prefetch = true;  // ManagedMemory::prefetch()
  bool managed_advice = true;    // ManagedMemory::advise()
  bool host_pages = true;        // FaultPolicy::kAts
  bool fault_counter = true;     // faults and fault_errors of ManagedStatistics; off: 0
  bool resident_bytes = true;    // resident_bytes of ManagedStatistics; off: 0
  bool managed_quota = true;     // managed pages are charged to a MemoryQuota; off: they are free
  bool reservations = true;      // AddressSpace::reserve()
  bool core_limits = true;       // ProcessContext::update() of a core mask
  bool tokens = true;            // tokens below kWholeToken (time_slices.hpp)
  bool share_updates = true;     // TimeSliceScheduler::set_quota()
};

struct DeviceOptions {
  RingPlacement ring = RingPlacement::kDeviceMemory;
  Picoseconds ready_timeout = 100_ms;   // for DEVICE_STATUS.Ready, and for an idle queue
  Picoseconds submit_timeout = 100_ms;  // of a submission to a full ring
  AdaptiveOptions adaptive;
  // An allocation moves blocks if enough memory is free, but not in one piece.
  bool compact_on_demand = true;
  Picoseconds compaction_timeout = 1_s;  // for an idle queue, and for each stage of copies
  DeviceFeatures features;
};

class NPU_API Device {
 public:
  // Initialises the card. Clears a latched fault of an earlier driver, and resets the function if
  // compute queues or engines of that driver do not stop. The error's context names the step.
  // `platform` must outlive the device.
  // kNotFound: no such function.
  // kUnsupported: not an NPU, or an ABI version that this driver does not know.
  // kBadDevice: BARs, MSI-X or registers make no sense.
  // kTimeout: the card does not become ready or idle.
  // Also the errors of the platform.
  static Result<std::unique_ptr<Device>> open(platform::Platform& platform, platform::Bdf bdf,
                                              const DeviceOptions& options = {});
  // Scans for the card with this DEVICE_INDEX and opens it.
  // kNotFound: no such card.
  // Also the errors of scan() and open().
  static Result<std::unique_ptr<Device>> open_index(platform::Platform& platform,
                                                    std::uint32_t index,
                                                    const DeviceOptions& options = {});
  // The same among the cards of an earlier scan(): a program that opens many scans once.
  // kNotFound: no such card in `found`.
  // Also the errors of open().
  static Result<std::unique_ptr<Device>> open_index(platform::Platform& platform,
                                                    const ScanResult& found, std::uint32_t index,
                                                    const DeviceOptions& options = {});
  ~Device();  // calls shutdown()
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Removes compute queues, drains the DMA queue within ready_timeout, disables it and MSI-X, and
  // restores COMMAND as before open(). A second call does nothing.
  // kTimeout, kDeviceFault, kAborted: the DMA queue did not drain; the device is shut down all the
  // same.
  Status shutdown();
  // Disables and enables the DMA queue. Commands in flight are aborted, and waits for earlier
  // tickets fail with kAborted. Latched faults are cleared. New submissions wait meanwhile, at
  // most submit_timeout.
  // kTimeout: the card does not become idle. Submissions fail with kAborted until a reset succeeds.
  Status reset_queue();

  const CardInfo& info() const;
  // Whether the card has an HCCS link to the card with this DEVICE_INDEX now.
  Result<bool> has_link_to(std::uint32_t index) const;
  bool lost() const;

  // --- Device memory (address_space.hpp). allocate() and free() use the default space. The memory
  // of a new space is charged to `quota` (quota.hpp), and its addresses are unique in `addresses`
  // (unified_addresses.hpp); null: none.
  // kOutOfResources: all address spaces or address windows are in use.
  AddressSpace& address_space();
  Result<std::unique_ptr<AddressSpace>> create_address_space(
      ProcessId process = {}, std::shared_ptr<MemoryQuota> quota = {},
      std::shared_ptr<UnifiedAddresses> addresses = {});
  Result<DeviceMemory> allocate(Bytes size, const MemoryOptions& options = {});
  Status free(DeviceAddress address);
  MemoryStatistics memory_statistics() const;
  // Moves blocks until `wanted` bytes are free in one piece. Submissions wait meanwhile, at most
  // submit_timeout. Addresses and content stay valid, also after an error. Memory that the card may
  // still use then is in quarantine (memory_statistics()) until a later compaction or allocation
  // finds it unused. A block that was moving to an overlapping place may remain in two pieces: it
  // no longer moves, and other cards cannot import it.
  // kInvalidArgument: 0 bytes.
  // kOutOfMemory: not enough is free, or pinned blocks are in the way.
  // kOutOfResources, kTimeout, kDeviceFault, kDeviceLost: a step failed.
  // kBusy: copies of an earlier compaction still run.
  Result<CompactionReport> compact(Bytes wanted);
  CompactionStatistics compaction_statistics() const;
  // Host memory for DMA. Destroy it before the device.
  // Errors are those of Platform::allocate_dma().
  Result<std::unique_ptr<platform::DmaMemory>> allocate_host(
      Bytes size, platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // --- Streams of the DMA ring (stream.hpp).
  // kOutOfResources: all streams or events are in use.
  // kOutOfRange, kUnsupported: placement kBar0.
  // kInvalidArgument: a space that is closed or of another card.
  Result<StreamId> create_stream(const StreamOptions& options = {});
  // Waits until the stream's commands are complete.
  // kTimeout: not at `deadline`; the stream is still usable.
  // kNotFound: no such stream.
  Status destroy_stream(StreamId stream, Instant deadline);
  // The stream's own event (kStreamEvent).
  // kNotFound: no such stream.
  Result<EventId> stream_event(StreamId stream) const;

  // --- Events, for waiting for commands of several streams together. A faulted event reports its
  // fault in every later wait until reset_queue(); destroy it and create another. If several
  // streams count one event, the interrupt may come on another stream's vector; the wait then ends
  // at its next check of the card.
  // kOutOfResources: all are in use, or retired after a fault.
  // kNotFound: no such event.
  // kInvalidArgument: destroy_event() with commands in flight.
  Result<EventId> create_event();
  Status destroy_event(EventId event);

  // --- DMA. submit() returns when the card can see the command, before it executes. The card
  // checks addresses: a command with an unmapped one ends with a fault.
  // kInvalidArgument: size 0, or an opcode that the ring has not.
  // kOutOfRange: an address plus the size overflows.
  // kQueueFull: the ring was full for submit_timeout, and nothing was queued.
  // kTimeout: compaction or a reset held the submission up for submit_timeout.
  // kNotFound: no such stream or event.
  // kAborted: the last reset_queue() failed.
  Result<Ticket> submit(StreamId stream, const DmaCommand& command,
                        const SubmitOptions& options = {});
  // Whether the command is complete, without waiting. If it is older than 1 ms, this also asks the
  // card, at most every 1 ms for an event, since the completion may have been lost. Errors as
  // wait().
  Result<bool> is_done(const Ticket& ticket);
  // Waits until the command is complete. `deadline` is on platform.clock().
  // kTimeout: not complete at `deadline`.
  // kDeviceFault: a command of the event failed, or the queue halted.
  // kUnsupported: kInterrupt for a stream or command without interrupts.
  // kNotFound: no such event or stream.
  // kAborted: reset_queue(), a reset of the card, or shutdown().
  Status wait(const Ticket& ticket, WaitPolicy policy, Instant deadline);
  // submit() and wait().
  Status copy(StreamId stream, const DmaCommand& command, WaitPolicy policy, Instant deadline);

  DmaStatistics dma_statistics() const;
  WaitStatistics wait_statistics() const;

  // Reads and clears the card's fault registers: the first fault since the last call; nullopt:
  // none.
  Result<std::optional<FaultReport>> take_fault();

  struct Impl;  // the driver's own

 private:
  friend struct DeviceParts;  // the driver's own
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
