// SPDX-License-Identifier: Apache-2.0
// The submission side of the DMA ring (requirements.md M3). A submission is: entry, write barrier,
// doorbell. It reads no register unless the driver's own copy of the consumer index says that the
// ring is full; even then only until there is room, and not longer than the given time.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/dma/queue_mark.hpp"
#include "driver/dma/ring_memory.hpp"
#include "driver/dma/submission_gate.hpp"
#include "driver/event/event_table.hpp"
#include "driver/link/card_link.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/dma.hpp"

namespace npu::driver {

struct CopyRequest {
  StreamId stream;
  DmaCommand command;
  EventId event;  // kNoEvent, or one that exists
  bool interrupt = false;
  bool privileged = false;  // the driver's own: passes a closed gate
};

class DmaQueue {
 public:
  DmaQueue(CardLink& link, EventTable& events, RingMemory ring);

  // Disables the queue, waits until it is idle, and enables it with empty indices: the next run
  // begins.
  Status start(Instant deadline);
  // The same while others submit and wait, and what the events were promised is forgotten.
  // Submissions wait meanwhile. After an error they fail with kAborted until a reset succeeds. One
  // at a time, and not while the gate is closed.
  Status reset(Instant deadline);
  // Waits until everything submitted is done. kTimeout.
  Status drain(Instant deadline);
  Status disable(Instant deadline);

  Result<Ticket> submit(const CopyRequest& request, Picoseconds timeout);
  // From the return of close_gate() to open_gate() nothing but privileged requests enters the ring;
  // others wait, each at most as long as it would for a full ring. kTimeout.
  Status close_gate(Instant deadline);
  void open_gate() { gate_.open(); }
  // Waits until the card has taken all commands before `mark` or has forgotten them in a reset.
  Status wait_consumed(QueueMark mark, Instant deadline);
  // The card has taken all commands before `mark`. Of an earlier run: changes nothing.
  void note_consumed(QueueMark mark);
  QueueMark submitted() const {
    return QueueMark::from_raw(producer_.load(std::memory_order_acquire));
  }
  // A reset is in flight, or has failed.
  bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // False: a reset has given up the ticket's command.
  bool is_current(const Ticket& ticket) const { return ticket.epoch == submitted().epoch(); }
  DmaStatistics statistics() const;

 private:
  std::uint64_t in_ring() const;
  bool is_full() const { return in_ring() >= abi::kRingEntries - 1; }
  bool is_consumed(QueueMark mark) const;
  Status wait_at_gate(Picoseconds timeout, Instant deadline);
  Status refresh_consumer();
  Status enable();
  tl::unexpected<Error> stopped_error() const;
  Ticket enqueue(const CopyRequest& request, Instant called);
  Status wait_for_status(Instant deadline, const char* what);
  tl::unexpected<Error> queue_full(Picoseconds timeout);

  CardLink& link_;
  EventTable& events_;
  RingMemory ring_;
  const std::uint32_t device_index_;
  const std::uint32_t track_;
  SpinLock lock_;
  SubmissionGate gate_;
  std::atomic<bool> stopped_{false};  // a reset has failed
  // Raw QueueMarks. Positions modulo 4096 are slots. A run begins under the lock.
  std::atomic<std::uint64_t> producer_{0};
  std::atomic<std::uint64_t> consumer_{0};  // as far as known; behind the card's
  std::atomic<std::uint64_t> ring_full_{0}, consumer_reads_{0}, rejected_{0}, total_{0};
};

}  // namespace npu::driver
