// SPDX-License-Identifier: Apache-2.0
// What has stopped a queue, and what is known of it for messages.
#pragma once

#include <atomic>
#include <vector>

#include "driver/support/spin_lock.hpp"
#include "npu/driver/queue.hpp"

namespace npu::driver {

class ChannelFaults {
 public:
  ChannelFaults(platform::Clock& clock, QueueId queue) : clock_(clock), queue_(queue) {}

  // kNone: the queue has not stopped.
  abi::FaultCode code() const { return code_.load(std::memory_order_acquire); }
  bool any() const { return code() != abi::FaultCode::kNone; }
  // After a fault: nothing of the queue runs any more, and all its completions are written.
  bool is_quiescent() const { return quiescent_.load(std::memory_order_acquire); }
  void note_quiescent() { quiescent_.store(true, std::memory_order_release); }

  // The first one after which it does not go on has stopped the queue.
  void note(abi::FaultCode code);
  void note(const QueueFault& fault);
  // Of an entry that has failed so, or was stopped with the queue: kDeviceFault.
  tl::unexpected<Error> error_of(const QueueTicket& ticket, abi::FaultCode code) const;

 private:
  platform::Clock& clock_;
  const QueueId queue_;
  std::atomic<abi::FaultCode> code_{abi::FaultCode::kNone};
  std::atomic<bool> quiescent_{false};
  mutable SpinLock lock_;          // the innermost
  std::vector<QueueFault> known_;  // for messages
};

}  // namespace npu::driver
