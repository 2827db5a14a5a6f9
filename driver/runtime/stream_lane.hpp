// SPDX-License-Identifier: Apache-2.0
// One queue of an execution stream. Marks keep it, so it may be there when the stream has another.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "npu/driver/queue.hpp"

namespace npu::driver {

class StreamLane {
 public:
  StreamLane(std::unique_ptr<Queue> queue, WaitPolicy policy)
      : queue_(std::move(queue)), policy_(policy) {}

  Queue& queue() const { return *queue_; }
  const std::optional<QueueTicket>& last() const { return last_; }
  void submitted(const QueueTicket& ticket) { last_ = ticket; }
  // What is submitted has ended; an entry that has failed counts, if the queue has not stopped.
  // kDeviceFault: it has stopped; kTimeout.
  Status wait(Instant deadline) {
    if (!last_) return {};
    auto done = wait_for(*last_, deadline);
    return !done && continues_after(done.error()) ? Status{} : done;
  }
  // As Queue::wait().
  Status wait_for(const QueueTicket& ticket, Instant deadline,
                  std::optional<WaitPolicy> policy = {}) const {
    return queue_->wait(ticket, policy.value_or(policy_), deadline);
  }
  Result<bool> is_done() {
    if (!last_) return true;
    auto done = queue_->is_done(*last_);
    return !done && continues_after(done.error()) ? Result<bool>(true) : done;
  }
  // Whether entries have failed since the last call.
  bool take_failed() {
    const auto failed = queue_->counters().failed;
    return std::exchange(told_, failed) != failed;
  }

 private:
  bool continues_after(const Error& error) const {
    return error.code == ErrorCode::kDeviceFault && !queue_->faulted();
  }

  std::unique_ptr<Queue> queue_;
  const WaitPolicy policy_;
  std::optional<QueueTicket> last_;
  std::uint64_t told_ = 0;
};

}  // namespace npu::driver
