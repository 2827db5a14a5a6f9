// SPDX-License-Identifier: Apache-2.0
#include "driver/event/wait_loop.hpp"

#include <algorithm>

namespace npu::driver {

WaitLoop::WaitLoop(platform::Clock& clock, platform::InterruptVector* vector, Instant deadline)
    : deadline_(deadline),
      clock_(clock),
      vector_(vector),
      probe_interval_(kFirstProbe),
      probe_at_(clock.now() + kFirstProbe) {}

WaitLoop::Done WaitLoop::wait(WaitPolicy policy, const WaitPlan& plan) {
  if (vector_ == nullptr || policy == WaitPolicy::kPolling) return spin(deadline_);
  return policy == WaitPolicy::kInterrupt ? block(deadline_) : follow(plan);
}

WaitLoop::Done WaitLoop::follow(const WaitPlan& plan) {
  if (plan.kind == WaitPlan::Kind::kSleep) return block(deadline_);
  if (plan.kind == WaitPlan::Kind::kNap) {
    const Done done = block(std::min(plan.nap_end, deadline_));
    if (!done || *done) return done;
  }
  const Done done = spin(std::min(plan.spin_end, deadline_));
  if (!done || *done || plan.spin_end >= deadline_) return done;
  return block(deadline_);
}

WaitLoop::Done WaitLoop::spin(Instant limit) {
  for (;;) {
    clock_.relax(watched(), std::min(limit, probe_at_));
    if (look()) return true;
    const auto time = now();
    if (time >= limit) return false;
    if (time >= probe_at_) {
      const Done done = ask_card();
      if (!done || *done) return done;
    }
  }
}

WaitLoop::Done WaitLoop::block(Instant limit) {
  for (;;) {
    // In this order no wake-up is lost: an interrupt after count() ends wait_after() at once, and
    // one before it came behind what the card had written, which look() then sees.
    const auto seen = vector_->count();
    if (look()) return true;
    const bool looks = probe_at_ < limit;
    const auto alarm = looks ? probe_at_ : limit;
    const auto woken =
        looks ? vector_->daemon_wait_after(seen, alarm) : vector_->wait_after(seen, alarm);
    if (!woken && woken.error().code != ErrorCode::kTimeout) {
      // Closed: the interrupt may have been the one waited for.
      if (look()) return true;
      return forward_error(woken);
    }
    const auto time = now();
    if (!woken && time >= alarm) learn_wake_cost(time - alarm);
    if (look()) {
      woken_by_interrupt_ = woken.has_value();
      found_by_probe_ = !woken && alarm == probe_at_;
      return true;
    }
    if (time >= limit) return false;
    if (time >= probe_at_) {
      const Done done = ask_card();
      if (!done || *done) return done;
    }
  }
}

WaitLoop::Done WaitLoop::ask_card() {
  probe_interval_ = 2 * probe_interval_;
  const Done done = probe();
  if (!done) return done;
  if (*done) {
    found_by_probe_ = true;
    return true;
  }
  probe_at_ = now() + probe_interval_;
  return false;
}

}  // namespace npu::driver
