// SPDX-License-Identifier: Apache-2.0
#include "driver/event/wait.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/event/wait_plan.hpp"
#include "npu/abi/registers.hpp"

namespace npu::driver {
namespace {

// A completion is much sooner than this unless something is wrong or the command is large.
constexpr Picoseconds kFirstProbe = 1_ms;

}  // namespace

Wait::Wait(Waiter& waiter, const Ticket& ticket, const WaitContext& context, Picoseconds deadline)
    : waiter_(waiter),
      ticket_(ticket),
      context_(context),
      deadline_(deadline),
      probe_interval_(kFirstProbe),
      probe_at_(now() + kFirstProbe) {}

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
  const Done done = policy == WaitPolicy::kInterrupt               ? block(deadline_)
                    : policy == WaitPolicy::kAdaptive && can_sleep ? adaptive()
                                                                   : spin(deadline_);
  if (!done) return forward_error(done);
  return *done ? finish() : timed_out();
}

Wait::Done Wait::adaptive() {
  const auto plan = plan_wait(waiter_.options_, waiter_.wake_cost(),
                              waiter_.forecast(ticket_, context_), ticket_.submitted, now());
  is_long_ = plan.is_long;
  if (plan.kind == WaitPlan::Kind::kSleep) return block(deadline_);
  if (plan.kind == WaitPlan::Kind::kNap) {
    const Done done = block(std::min(plan.nap_end, deadline_));
    if (!done || *done) return done;
  }
  const Done done = spin(std::min(plan.spin_end, deadline_));
  if (!done || *done || plan.spin_end >= deadline_) return done;
  return block(deadline_);
}

Wait::Done Wait::spin(Picoseconds limit) {
  auto& clock = waiter_.link_.clock();
  const auto watched = waiter_.events_.watched(ticket_.event);
  for (;;) {
    clock.relax(watched, std::min(limit, probe_at_));
    if (look()) return true;
    const auto time = now();
    if (time >= limit) return false;
    if (time >= probe_at_) {
      const Done done = ask_card();
      if (!done || *done) return done;
    }
  }
}

Wait::Done Wait::block(Picoseconds limit) {
  for (;;) {
    // In this order no wake-up is lost: an interrupt after count() ends wait_beyond() at once, and
    // one before it came behind its event record, which look() then sees.
    const auto seen = context_.vector->count();
    if (look()) return true;
    const auto alarm = std::min(limit, probe_at_);
    const auto woken = context_.vector->wait_beyond(seen, alarm);
    if (!woken && woken.error().code != ErrorCode::kTimeout) return forward_error(woken);
    const auto time = now();
    if (!woken && time >= alarm) waiter_.learn_wake_cost(time - alarm);
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

// Reads the event from the card. True: it is done, whatever host memory says.
Wait::Done Wait::ask_card() {
  auto& link = waiter_.link_;
  probe_interval_ = 2 * probe_interval_;
  const auto raw = link.read_event(ticket_.event.value);
  if (!raw) return forward_error(raw);
  const abi::EventRecord on_card{*raw};
  if (abi::event_reached(on_card.count(), ticket_.target)) {
    record_ = on_card;
    found_by_probe_ = true;
    return true;
  }
  const auto status = link.read<abi::DmaQueueStatus>();
  if (!status) return forward_error(status);
  if (status->get<abi::DmaQueueStatus::Halted>() && status->get<abi::DmaQueueStatus::Idle>()) {
    return fail(ErrorCode::kDeviceFault,
                fmt::format("the DMA queue of {} has halted before stream {} was done",
                            to_string(link.bdf()), ticket_.stream.value));
  }
  probe_at_ = now() + probe_interval_;
  return false;
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
