// SPDX-License-Identifier: Apache-2.0
// One wait for one ticket of a queue.
#pragma once

#include "driver/event/wait_loop.hpp"
#include "driver/queue/queue_channel.hpp"

namespace npu::driver {

class QueueWait final : private WaitLoop {
 public:
  // What a queue lends to those who wait for it. `vector`: null without interrupts.
  struct Parts {
    platform::Clock& clock;
    platform::InterruptVector* vector;
    const CompletionRing& completions;
    WaitHistory& history;
    ChannelCounters& counters;
  };

  QueueWait(QueueChannel& channel, const Parts& parts, const QueueTicket& ticket, Instant deadline)
      : WaitLoop(parts.clock, ticket.interrupt ? parts.vector : nullptr, deadline),
        channel_(channel),
        parts_(parts),
        ticket_(ticket) {}

  // As Queue::wait().
  Status run(WaitPolicy policy);

 private:
  // Also true after an error, which is what the wait ends with.
  bool look() override;
  // If another task has read completions since, this one's may be among them.
  ConstByteSpan watched() const override;
  Done probe() override;
  void learn_wake_cost(Picoseconds sample) override { parts_.history.learn_wake_cost(sample); }

  QueueChannel& channel_;
  const Parts parts_;
  const QueueTicket& ticket_;
  Result<bool> result_ = false;
  std::uint64_t seen_ = 0;
};

}  // namespace npu::driver
