// SPDX-License-Identifier: Apache-2.0
// The submission side of the DMA ring (mission.md M3). A submission is: entry, write barrier,
// doorbell. It reads no register unless the driver's own copy of the consumer index says that the
// ring is full; even then only until there is room, and not longer than the given time.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/device/card_link.hpp"
#include "driver/dma/ring_memory.hpp"
#include "driver/event/event_table.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/dma.hpp"

namespace npu::driver {

struct DmaRequest {
  StreamId stream;
  DmaCommand command;
  EventId event;  // kNoEvent, or one that exists
  bool interrupt = false;
  bool privileged = false;  // the driver's own: passes a closed gate
};

class DmaQueue {
 public:
  DmaQueue(CardLink& link, EventTable& events, RingMemory ring, std::uint32_t device_index);

  // Disables the queue, waits until it is idle, and enables it with empty indices.
  Status start(Picoseconds deadline);
  // Waits until everything submitted is done. kTimeout.
  Status drain(Picoseconds deadline);
  Status disable(Picoseconds deadline);

  Result<Ticket> submit(const DmaRequest& request, Picoseconds timeout);
  // From the return of close_gate() to open_gate() nothing but privileged requests enters the ring;
  // others wait, each at most as long as it would for a full ring. kTimeout.
  Status close_gate(Picoseconds deadline);
  void open_gate();
  // Waits until the card has taken all commands before `position`.
  Status wait_consumed(std::uint64_t position, Picoseconds deadline);
  // The command at `position` is done, so the card has taken it and all before it.
  void note_completed(std::uint64_t position);
  std::uint64_t submitted() const { return producer_.load(std::memory_order_acquire); }
  DmaStatistics statistics() const;

 private:
  bool is_full() const;
  Status wait_at_gate(Picoseconds timeout, Picoseconds deadline);
  Status refresh_consumer();
  Ticket enqueue(const DmaRequest& request, Picoseconds called);
  Status wait_for_status(Picoseconds deadline, const char* what);
  tl::unexpected<Error> queue_full(Picoseconds timeout);

  CardLink& link_;
  EventTable& events_;
  RingMemory ring_;
  const std::uint32_t device_index_;
  const std::uint32_t track_;
  SpinLock lock_;
  std::atomic<bool> gate_closed_{false};
  std::unique_ptr<platform::Mutex> gate_mutex_;
  std::unique_ptr<platform::Condition> gate_opened_;
  // Positions count commands since the queue was enabled; modulo 4096 they are slots.
  std::atomic<std::uint64_t> producer_{0};
  std::atomic<std::uint64_t> consumer_{0};  // as far as known; behind the card's
  std::atomic<std::uint64_t> ring_full_{0}, consumer_reads_{0}, rejected_{0}, total_{0};
};

}  // namespace npu::driver
