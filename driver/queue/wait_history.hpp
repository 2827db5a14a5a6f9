// SPDX-License-Identifier: Apache-2.0
// What the waits for a queue have taught: how long entries of a size take, and what going to sleep
// and being woken costs.
#pragma once

#include <atomic>
#include <memory>

#include "driver/event/latency_predictor.hpp"
#include "driver/event/wait_plan.hpp"
#include "driver/support/relaxed.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/driver/queue.hpp"

namespace npu::driver {

class WaitHistory {
 public:
  WaitHistory(platform::Clock& clock, const AdaptiveOptions& options)
      : clock_(clock), options_(options), wake_cost_(options.context_switch.count()) {}

  // For a wait that begins now.
  WaitPlan plan(const QueueTicket& ticket);
  // A planned wait has ended now. `slept`: an interrupt has woken it; `was_long`: as it was
  // planned.
  void learn(const QueueTicket& ticket, bool slept, bool was_long);
  void learn_wake_cost(Picoseconds sample);

 private:
  Picoseconds wake_cost() const { return Picoseconds(wake_cost_.load(kRelaxed)); }

  platform::Clock& clock_;
  const AdaptiveOptions options_;
  SpinLock lock_;                                // of the predictor
  std::unique_ptr<LatencyPredictor> predictor_;  // null: nothing was planned yet
  std::atomic<std::int64_t> wake_cost_;          // ps
};

}  // namespace npu::driver
