// SPDX-License-Identifier: Apache-2.0
// Waits for tickets by polling, by interrupt, or by what the stream's past suggests.
//
// Adaptive waiting: see wait_plan.hpp; the loop: wait_loop.hpp.
#pragma once

#include <atomic>

#include "driver/dma/dma_queue.hpp"
#include "driver/event/event_table.hpp"
#include "driver/event/latency_predictor.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/event.hpp"

namespace npu::driver {

// What belongs to the ticket's stream.
struct WaitContext {
  platform::InterruptVector* vector = nullptr;  // null: only polling
  LatencyPredictor* predictor = nullptr;        // under Waiter's lock
};

class Waiter {
 public:
  Waiter(CardLink& link, EventTable& events, DmaQueue& queue, const AdaptiveOptions& options);

  // kAborted: a reset of the queue gave the command up, before or during the wait.
  Status wait(const Ticket& ticket, const WaitContext& context, WaitPolicy policy,
              Instant deadline);
  // What is known of a stream belongs to an earlier one. Others may still wait for that one.
  void forget(LatencyPredictor& predictor);
  // One look, at the card itself if that is due; fails as wait().
  Result<bool> is_done(const Ticket& ticket);
  WaitStatistics statistics() const;

 private:
  friend class Wait;

  struct Counters {
    std::atomic<std::uint64_t> waits{0}, already_done{0}, spun{0}, slept{0}, missed{0}, timeouts{0};
  };

  LatencyEstimate forecast(const Ticket& ticket, const WaitContext& context);
  void learn(const Ticket& ticket, const WaitContext& context, Picoseconds sample, bool was_long);
  Picoseconds wake_cost() const { return Picoseconds(wake_cost_.load(std::memory_order_relaxed)); }
  void learn_wake_cost(Picoseconds sample);
  // Reads the event from the card into `record`. True: the command is done, well or badly, or
  // given up. kDeviceFault: the queue has halted before; kAborted: it is off.
  Result<bool> ask_card(const Ticket& ticket, abi::EventRecord& record);
  Status outcome(const Ticket& ticket, abi::EventRecord record);
  bool is_aborted(const Ticket& ticket) const { return !queue_.is_current(ticket); }

  CardLink& link_;
  EventTable& events_;
  DmaQueue& queue_;
  const std::uint32_t device_index_;
  const AdaptiveOptions options_;
  const std::uint32_t track_;
  SpinLock lock_;
  LatencyPredictor all_streams_;  // first guess for a stream that knows nothing yet
  std::atomic<std::int64_t> wake_cost_;
  Counters counters_;
};

}  // namespace npu::driver
