// SPDX-License-Identifier: Apache-2.0
// A compute queue as its user holds it. Submitting is user space only: entries into the ring, a
// barrier, the doorbell. It calls no manager and takes no lock but the queue's own.
#pragma once

#include <cstdint>
#include <memory>

#include "npu/driver/event.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/queue_entries.hpp"
#include "npu/driver/queue_types.hpp"

namespace npu::driver {

struct QueueEntryOptions {
  bool barrier = false;    // starts when all before it are complete
  bool completion = true;  // can be waited for. Off: only submitted; a fault still stops the queue
  bool continue_on_error =
      false;              // its failure does not stop the queue; needs `completion` to be heard of
  bool interrupt = true;  // MSI-X at the end, if the queue has interrupts; needs `completion`
};

// What a submission returns. Outcomes are kept until as many entries with completions as the
// completion ring has places were submitted after it. A nop of the driver's own, which takes an
// index, may come before it: where those without completions would never say that there is room.
struct QueueTicket {
  QueueId queue;
  std::uint64_t index = 0;     // of the (last) entry, from 0 since the queue was made
  std::uint64_t sequence = 0;  // among entries with completions, from 1; 0: cannot be waited for
  std::uint8_t size_class = 0;
  bool interrupt = false;
  Instant submitted;
};

// All members may be called from several tasks at once, but the destructor.
class NPU_API Queue {
 public:
  // Destroys the queue, as ProcessContext::destroy() does after QueueOptions' usual time. Must come
  // before the process context's end.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  QueueId id() const;
  std::uint16_t doorbell() const;  // number in the page of the process
  bool faulted() const;            // no look at the card

  // Returns when the card may see the entry. kQueueFull: no room until `deadline`, in the ring or,
  // while an entry that others overtake is not complete, in the completion ring, a time of the
  // platform's clock, nothing was submitted; kDeviceFault: the queue has stopped; kInvalidArgument:
  // it was destroyed. What an entry says is not checked: that is the card's business.
  Result<QueueTicket> submit(const abi::QueueEntry& entry, Instant deadline,
                             const QueueEntryOptions& options = {});
  // All of them with one doorbell, the options for each; the ticket is the last one's.
  // kInvalidArgument: none, or more than the ring can hold.
  Result<QueueTicket> submit(const abi::QueueEntry* entries, std::size_t count, Instant deadline,
                             const QueueEntryOptions& options = {});

  // One look; at an entry older than 1 ms also at the card, at most once in 1 ms for a queue, in
  // case what the card has written of its end was lost. kDeviceFault: the entry failed, or the
  // queue was stopped before it was done (faulted()); kNotFound: the outcome has been forgotten;
  // kInvalidArgument: not of this queue, or without completion; kAborted: the queue was destroyed,
  // or the card reset; kDeviceLost, kIo.
  Result<bool> is_done(const QueueTicket& ticket);
  // As is_done(); kTimeout, kUnsupported (kInterrupt without interrupts).
  Status wait(const QueueTicket& ticket, WaitPolicy policy, Instant deadline);

  QueueCounters counters() const;

  struct Impl;  // the driver's own
  explicit Queue(std::unique_ptr<Impl> impl);

 private:
  friend struct ImplAccess;  // the driver's own
  std::unique_ptr<Impl> impl_;
};

}  // namespace npu::driver
