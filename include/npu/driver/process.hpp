// SPDX-License-Identifier: Apache-2.0
// A process on a card: a PASID, an address space, a page of doorbells, signals and compute queues.
// Programs that submit work open one. The card knows the process from its first queue to its last.
//
// All members may be called from several tasks at once. Members that create, change or destroy
// queues wait for the card: do not call them for each submission. After close() or the device's
// shutdown() members fail with kInvalidArgument, and after the loss of the card with kDeviceLost.
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
  unsigned signals = 512;                      // 1 .. abi::kSignalSlots
  unsigned max_queues = abi::kQueueDoorbells;  // 1 .. kQueueDoorbells
  Picoseconds command_timeout = 100_ms;        // for the answer to a management command
  Picoseconds drain_timeout = 100_ms;          // of ~Queue()
  ProcessId process;                           // owner of its memory, for sharing.hpp
  std::shared_ptr<MemoryQuota> quota;          // charged for its memory; null: none
  // Addresses that are unique on all cards of the program; null: on this card only.
  std::shared_ptr<UnifiedAddresses> addresses;
  std::uint32_t group = 0;  // of cores (compute_groups.hpp)
};

class NPU_API ProcessContext {
 public:
  using FaultHandler = std::function<void(const QueueFault&)>;

  // `device` must outlive the process. On a platform without PASIDs (Linux VFIO) the processes of a
  // function can access each other's host memory.
  // kUnsupported: the card has no command processor.
  // kInvalidArgument: options out of range.
  // kNotFound: no such compute group.
  // kOutOfResources: all VMIDs, PASIDs or doorbell pages are in use.
  // kOutOfMemory: no host or device memory.
  // kBadDevice, kTimeout, kIo: the card's management queue does not start.
  static Result<std::unique_ptr<ProcessContext>> open(Device& device,
                                                      const ProcessOptions& options = {});
  // Closes the process and ignores errors. Its queues must be destroyed.
  ~ProcessContext();
  ProcessContext(const ProcessContext&) = delete;
  ProcessContext& operator=(const ProcessContext&) = delete;

  // Releases PASID, VMID and doorbell page.
  // kBusy: the process has queues; or Device streams use its address space, and it is closed.
  // kTimeout: the card did not drop its translations, and it is closed.
  Status close();

  std::uint32_t pasid() const;
  unsigned vmid() const;
  std::uint32_t doorbell_page() const;
  AddressSpace& space();
  Signals& signals();
  // Allocates host memory that the queues of the process can access. Destroy it before the process.
  // Errors are those of Platform::allocate_dma().
  Result<std::unique_ptr<platform::DmaMemory>> allocate_host(
      Bytes size, platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // The same for memory of the caller, which must outlive the object. Writes of the queues are
  // visible in it at once. `pages`: kFresh if nobody has accessed them yet.
  // Errors are those of Platform::import_dma().
  Result<std::unique_ptr<platform::DmaMemory>> import_host(
      ByteSpan memory, platform::HostPages pages,
      platform::DmaDirection direction = platform::DmaDirection::kBidirectional);

  // Creates a queue. In an evicted process the queue is evicted, too.
  // kInvalidArgument: options out of range, or no core of `core_mask` in the process' group.
  // kOutOfResources: queue ids, doorbells or max_queues used up.
  // kOutOfMemory: no memory for a ring.
  // kQueueFull: the management ring stays full.
  // kBadDevice: the card refused.
  // kTimeout: no answer within command_timeout.
  // kIo: no answer within 1 ms, and the card decodes no registers, has halted or may not use the
  // bus.
  // kAborted: the card was reset.
  Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options = {});
  // Changes a queue. The card does not run it meanwhile.
  // kNotFound: no such queue.
  // kInvalidArgument: out of range, no core in the process' group, or a ring that is larger than
  // the completion ring or too small for the waiting entries.
  // kUnsupported: `core_mask` is set, and limits of cores are switched off (DeviceFeatures).
  // kBusy: the queue is being destroyed.
  // kDeviceFault: the queue has stopped.
  // Also the errors of create_queue() from kOutOfMemory on. After kTimeout or kBadDevice the change
  // may be in effect, and the queue may be stopped.
  Status update(QueueId queue, const QueueChange& change);
  // Drains an active queue. One that is not empty at `deadline` is reset, within 1 ms more.
  // kBusy: at `deadline` the queue is still suspended; or another task destroys it.
  // kTimeout: the card did not answer. The queue accepts nothing more; another destroy() or
  // ~Queue() removes it.
  // kInvalidArgument: a queue of another process.
  // kNotFound: destroyed already.
  Result<QueueEnd> destroy(Queue& queue, Instant deadline);

  // Asks the card for the state of one queue.
  // kNotFound: no such queue.
  // Also the errors of create_queue() from kQueueFull on.
  Result<QueueStatus> query(QueueId queue);
  // The same for all queues of the process, lowest id first, at most `limit`.
  Result<std::vector<QueueStatus>> snapshot(std::size_t limit = abi::kMaxQueues);
  std::size_t queue_count() const;

  // Suspend or resume queues, with results in the order of `queues`. The card completes entries in
  // flight, but preempts a preemptible kernel between two blocks. Entries submitted meanwhile run
  // after resume(). Suspensions do not nest.
  std::vector<QueueResult> suspend(const std::vector<QueueId>& queues, Instant deadline);
  std::vector<QueueResult> resume(const std::vector<QueueId>& queues, Instant deadline);

  // Stop all queues of the process, or let them run again. Evictions nest: queues run after as many
  // restores, unless they are suspended or disabled. An error of one queue does not affect others.
  // kBusy: other calls held the process until `deadline`, and nothing has changed.
  // kInvalidArgument: restore() without evict().
  // kTimeout: the card did not answer. evict(): the process counts as evicted, but entries may
  // still run. restore(): the process is still evicted; repeat the call.
  // kBadDevice: restore(): the card refused to run a queue; update() can repair it.
  Status evict(Instant deadline);
  Status restore(Instant deadline);
  unsigned evictions() const;
  Picoseconds evicted_time() const;  // total, on the platform's clock

  // Faults of the process, oldest first; the latest 1024 are kept. A fault stops its queue for
  // good, except with QueueEntryOptions::continue_on_error. The handler is called for each later
  // fault, by a task that takes faults, waits for a queue or submits to a full one.
  void on_fault(FaultHandler handler);
  std::vector<QueueFault> take_faults();
  // Takes the faults of one queue.
  std::vector<QueueFault> take_faults(QueueId queue);
  // Waits until there is a fault to take.
  // kTimeout: none at `deadline`.
  Status wait_fault(Instant deadline);

  struct Impl;  // the driver's own
  explicit ProcessContext(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

// Of all processes of the card. All zero before the first one was opened.
NPU_API QueueManagerStatistics queue_statistics(Device& device);
// Takes the faults of no open process, oldest first; the latest 1024 are kept.
NPU_API std::vector<QueueFault> take_stray_faults(Device& device);

}  // namespace npu::driver
