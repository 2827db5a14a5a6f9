// SPDX-License-Identifier: Apache-2.0
// Faults of a process: told to its queues, kept until a caller takes them, and delivered to its
// handler.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "driver/queue/queue_channel.hpp"
#include "npu/driver/process.hpp"

namespace npu::driver {

class ProcessFaults {
 public:
  using Handler = ProcessContext::FaultHandler;

  explicit ProcessFaults(platform::Clock& clock) : clock_(clock) {}

  // The queue hears of its faults, until it goes.
  void add(QueueId id, QueueChannel& channel);
  void remove(const QueueChannel& channel);
  void set_handler(Handler handler);

  void note(const QueueFault& fault);
  // The queue has heard of one, or there is no such queue.
  bool is_known_to(QueueId id);
  // Calls the handler, without a lock: it may call anything.
  void deliver();
  bool empty();
  std::vector<QueueFault> take();
  std::vector<QueueFault> take(QueueId queue);  // of one queue

 private:
  platform::Clock& clock_;
  SpinLock lock_;
  std::vector<std::pair<QueueId, QueueChannel*>> channels_;
  std::deque<QueueFault> faults_;       // to be taken
  std::deque<QueueFault> undelivered_;  // to the handler
  Handler handler_;
};

}  // namespace npu::driver
