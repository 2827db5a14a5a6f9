// SPDX-License-Identifier: Apache-2.0
#include "driver/queue/wait_history.hpp"

#include <algorithm>

namespace npu::driver {

WaitPlan WaitHistory::plan(const QueueTicket& ticket) {
  LatencyEstimate estimate;
  {
    lock_.lock(clock_);
    const SpinLockHolder holder(lock_);
    if (!predictor_) predictor_ = std::make_unique<LatencyPredictor>();
    estimate = predictor_->estimate(ticket.size_class);
  }
  return plan_wait(options_, wake_cost(), estimate, ticket.submitted, clock_.now());
}

void WaitHistory::learn(const QueueTicket& ticket, bool slept, bool was_long) {
  const auto latency = clock_.now() - ticket.submitted;
  const auto sample = slept ? std::max(latency - wake_cost(), Picoseconds()) : latency;
  lock_.lock(clock_);
  const SpinLockHolder holder(lock_);
  if (predictor_) predictor_->learn(ticket.size_class, sample, was_long);
}

void WaitHistory::learn_wake_cost(Picoseconds sample) {
  const auto old = wake_cost_.load(kRelaxed);
  wake_cost_.store(old + (sample.count() - old) / 8, kRelaxed);
}

}  // namespace npu::driver
