// SPDX-License-Identifier: Apache-2.0
#include "driver/stream/wait.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::driver {

Wait::Wait(Waiter& waiter, const Ticket& ticket, const WaitContext& context, Instant deadline)
    : WaitLoop(waiter.link_.clock(), ticket.interrupt ? context.vector : nullptr, deadline),
      waiter_(waiter),
      ticket_(ticket),
      context_(context) {}

Status Wait::run(WaitPolicy policy) {
  if (waiter_.is_aborted(ticket_)) return waiter_.outcome(ticket_, record_);
  if (look()) {
    waiter_.counters_.already_done.fetch_add(1, std::memory_order_relaxed);
    const auto elapsed = now() - ticket_.submitted;
    const auto estimate = waiter_.forecast(ticket_, context_);
    if (estimate.known && elapsed < estimate.mean) {
      waiter_.learn(ticket_, context_, elapsed, estimate.was_long);
    }
    return waiter_.outcome(ticket_, record_);
  }
  const bool can_sleep = context_.vector != nullptr && ticket_.interrupt;
  if (policy == WaitPolicy::kInterrupt && !can_sleep) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("stream {} or its command has no interrupt", ticket_.stream.value));
  }
  WaitPlan plan;
  if (policy == WaitPolicy::kAdaptive && can_sleep) {
    plan = plan_wait(waiter_.options_, waiter_.wake_cost(), waiter_.forecast(ticket_, context_),
                     ticket_.submitted, now());
    is_long_ = plan.is_long;
  }
  const Done done = wait(policy, plan);
  if (!done) return forward_error(done);
  return *done ? finish() : timed_out();
}

bool Wait::look() {
  record_ = waiter_.events_.load(ticket_.event);
  return waiter_.is_aborted(ticket_) || abi::event_reached(record_.count(), ticket_.target);
}

Status Wait::finish() {
  if (waiter_.is_aborted(ticket_)) return waiter_.outcome(ticket_, record_);
  auto& counters = waiter_.counters_;
  auto& counter = found_by_probe_       ? counters.missed
                  : woken_by_interrupt_ ? counters.slept
                                        : counters.spun;
  counter.fetch_add(1, std::memory_order_relaxed);
  if (!found_by_probe_) {
    const auto latency = now() - ticket_.submitted;
    const auto woken_after = std::max(latency - waiter_.wake_cost(), Picoseconds());
    waiter_.learn(ticket_, context_, woken_by_interrupt_ ? woken_after : latency, is_long_);
  }
  return waiter_.outcome(ticket_, record_);
}

Status Wait::timed_out() {
  const Done done = ask_card();  // lost, halted, or merely late?
  if (!done) return forward_error(done);
  if (*done) return finish();
  waiter_.counters_.timeouts.fetch_add(1, std::memory_order_relaxed);
  return fail(
      ErrorCode::kTimeout,
      fmt::format("stream {}, command {}: event {} is at {}, waited for {}", ticket_.stream.value,
                  ticket_.position, ticket_.event.value, record_.count(), ticket_.target));
}

}  // namespace npu::driver
