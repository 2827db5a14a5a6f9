// SPDX-License-Identifier: Apache-2.0
// A process on a card: a PASID, an address space of its own, a page of doorbells, signals, and
// compute queues. Its first queue makes the card know it, its last one makes it forget.
//
// Members may be called from several tasks at once. Those that change queues talk to the card's
// management queue and wait for its answer: they are not for the path of a submission. What is
// said of an error holds also for the resources: nothing is kept after one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "npu/driver/address_space.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/queue.hpp"
#include "npu/driver/queue_types.hpp"
#include "npu/driver/signal.hpp"

namespace npu::driver {

struct ProcessOptions {
  unsigned signals = 512;                      // slots of the signal page, 1 .. abi::kSignalSlots
  unsigned max_queues = abi::kQueueDoorbells;  // 1 .. kQueueDoorbells
  Picoseconds command_timeout = 100_ms;        // for the answer to a management command
  Picoseconds drain_timeout = 100_ms;          // ~Queue(), ~ProcessContext()
  ProcessId process;                           // of its space, for who shares memory (sharing.hpp)
  std::shared_ptr<MemoryQuota> quota;          // that its memory counts for (quota.hpp); null: none
  std::shared_ptr<UnifiedAddresses>
      addresses;            // of the program over all its cards; null: no matter
  std::uint32_t group = 0;  // of cores (compute_groups.hpp)
};

class NPU_API ProcessContext {
 public:
  using FaultHandler = std::function<void(const QueueFault&)>;

  // `device` must outlive it. kUnsupported: the card has no command processor; kOutOfResources:
  // VMIDs, PASIDs or doorbell pages are all in use; kOutOfMemory. On a platform without PASIDs
  // (Linux VFIO) the processes of a function reach each other's host memory. kNotFound,
  // kInvalidArgument: its compute group.
  static Result<std::unique_ptr<ProcessContext>> open(Device& device,
                                                      const ProcessOptions& options = {});
  // Destroys what is left, whatever it says.
  ~ProcessContext();
  ProcessContext(const ProcessContext&) = delete;
  ProcessContext& operator=(const ProcessContext&) = delete;

  // Gives PASID, VMID and doorbell page back. kBusy: it has queues; kTimeout.
  Status close();

  std::uint32_t pasid() const;
  unsigned vmid() const;
  std::uint32_t doorbell_page() const;
  AddressSpace& space();
  Signals& signals();
  // Host memory that the process' queues may use; given back before the process is closed.
  Result<std::unique_ptr<platform::DmaMemory>> allocate_host(
      Bytes size, platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // The same of memory that somebody else keeps until after the object is destroyed: what the
  // queues write is there at once (Platform::import_dma(), whose errors are these). `pages`: kFresh
  // when nobody has touched them yet.
  Result<std::unique_ptr<platform::DmaMemory>> import_host(
      ByteSpan memory, platform::HostPages pages,
      platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // kInvalidArgument: options out of range, no core of `core_mask` is of the process' group;
  // kOutOfResources: queue ids, doorbells or max_queues used up; kOutOfMemory; kQueueFull: the
  // management ring; kBadDevice: the card has refused; kTimeout. A card that answers no command is
  // looked at after 1 ms, and at once by later calls: kIo if it decodes no registers, has halted or
  // may not use the bus; kDeviceLost. Else `command_timeout` is waited for, several times before
  // ~Queue() gives up. A queue created while the process is evicted is evicted, too.
  Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options = {});
  // kNotFound, kInvalidArgument; kBusy: is being destroyed; kDeviceFault: it has stopped. A failed
  // change changes nothing, but the card may have been left without it (kTimeout).
  Status update(QueueId queue, const QueueChange& change);
  // Waits until everything submitted is complete, if the queue is active; at `deadline` it is
  // reset, for which the card has another millisecond. A suspended queue is not destroyed before it
  // is resumed (kBusy at `deadline`). kTimeout: the card has not answered; the queue takes nothing
  // more, and is gone when this is called again with success, or with ~Queue(). kInvalidArgument: a
  // queue of another process; kNotFound: destroyed already.
  Result<QueueEnd> destroy(Queue& queue, Instant deadline);

  // What the card says now. kNotFound, kTimeout.
  Result<QueueStatus> query(QueueId queue);
  // Of all queues of the process, lowest id first, at most `limit`.
  Result<std::vector<QueueStatus>> snapshot(std::size_t limit = abi::kMaxQueues);
  std::size_t queue_count() const;

  // In the order of `queues`. The card completes what runs of a queue that is suspended; what is
  // submitted meanwhile runs when it is resumed. Suspending a suspended queue changes nothing.
  std::vector<QueueResult> suspend(const std::vector<QueueId>& queues, Instant deadline);
  std::vector<QueueResult> resume(const std::vector<QueueId>& queues, Instant deadline);

  // All queues at once, counted: they run again after as many restores as evictions, those that
  // nothing else holds. An error of one queue does not keep the others from their turn.
  // kBusy: other calls of the process took until `deadline`, nothing was begun.
  // restore() without evict(): kInvalidArgument. A process whose evict() has failed counts as
  // evicted, though something may still run. restore() that the card does not answer (kTimeout) is
  // to be repeated; a queue that it refuses (kBadDevice) is for update() to mend.
  Status evict(Instant deadline);
  Status restore(Instant deadline);
  unsigned evictions() const;
  Picoseconds evicted_time() const;  // so far, by the platform's clock

  // Faults of this process, oldest first; each also goes to the handler, in the task that calls
  // this or waits for a queue. The queue at fault is stopped for good, others are not affected.
  void on_fault(FaultHandler handler);
  std::vector<QueueFault> take_faults();
  // Of one queue; those of others stay.
  std::vector<QueueFault> take_faults(QueueId queue);
  // Until there is one to take. kTimeout.
  Status wait_fault(Instant deadline);

  struct Impl;  // the driver's own
  explicit ProcessContext(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

// Of all processes of the card. All zero before the first one was opened.
NPU_API QueueManagerStatistics queue_statistics(Device& device);
// Faults that are no process' of this driver.
NPU_API std::vector<QueueFault> take_stray_faults(Device& device);

}  // namespace npu::driver
