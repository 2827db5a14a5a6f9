// SPDX-License-Identifier: Apache-2.0
// A compute queue, as its user holds it (ProcessContext::create_queue()). Most programs use
// ExecutionStream (execution_stream.hpp) instead.
//
// Submitting is done in user space: entries into the ring, a barrier, the doorbell. With room
// in the ring it needs no management command and no lock but the queue's.
#pragma once

#include <cstdint>
#include <memory>

#include "npu/driver/event.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/queue_entries.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

struct QueueEntryOptions {
  bool barrier = false;    // starts when all entries before it are complete
  bool completion = true;  // the entry can be waited for
  // A failure of the entry does not stop the queue, unless the entry is malformed. Only an entry
  // with `completion` reports its failure.
  bool continue_on_error = false;
  bool interrupt = true;  // MSI-X at the end; needs `completion` and QueueOptions::interrupt
};

// A submission. Its outcome is kept until the completion ring has received as many later
// completions as it has places.
struct QueueTicket {
  QueueId queue;
  // Of the last entry, from 0. The driver may insert a nop of its own, which also has an index.
  std::uint64_t index = 0;
  std::uint64_t sequence = 0;  // among entries with completions, from 1; 0: cannot be waited for
  std::uint8_t size_class = 0;
  bool interrupt = false;
  Instant submitted;
};

// All members may be called from several tasks at once, except the destructor.
class NPU_API Queue {
 public:
  // Destroys the queue, also a suspended one, after draining it for ProcessOptions::drain_timeout.
  // Must come before the end of the process context.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  QueueId id() const;
  std::uint16_t doorbell() const;  // number in the doorbell page of the process
  bool faulted() const;            // as far as known; reads no register

  // Submits entries with one doorbell. The options hold for each entry, and the ticket is that of
  // the last one. Returns when the card can see the entries. Their content is for the card to
  // check.
  // kQueueFull: at `deadline` the ring has no room, or the completion ring has none because an
  // overtaken entry is not complete. Nothing was submitted.
  // kDeviceFault: the queue has stopped.
  // kInvalidArgument: no entry, more than the ring holds, or the queue was destroyed.
  // kDeviceLost: the card is gone.
  Result<QueueTicket> submit(const abi::QueueEntry& entry, Instant deadline,
                             const QueueEntryOptions& options = {});
  Result<QueueTicket> submit(const abi::QueueEntry* entries, std::size_t count, Instant deadline,
                             const QueueEntryOptions& options = {});

  // Whether the entry is complete. Reads the completion ring. If the entry is older than 1 ms, it
  // also asks the card, at most every 1 ms, since the completion may have been lost. After a fault
  // of the queue it waits until the card has stopped the queue, at most
  // ProcessOptions::command_timeout.
  // kDeviceFault: the entry failed, or the queue stopped before it was complete (faulted()).
  // kNotFound: the outcome is no longer kept.
  // kInvalidArgument: a ticket of another queue or without completion.
  // kAborted: the queue was destroyed, or the card was reset.
  // kDeviceLost, kIo: the card does not answer.
  Result<bool> is_done(const QueueTicket& ticket);
  // Waits until the entry is complete.
  // kTimeout: not complete at `deadline`.
  // kUnsupported: kInterrupt for an entry or a queue without interrupts.
  // Also the errors of is_done().
  Status wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline);

  QueueCounters counters() const;

  struct Impl;  // the driver's own
  explicit Queue(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
