// SPDX-License-Identifier: Apache-2.0
#include "model/core/agenda.hpp"

#include <algorithm>

#include "model/core/process_state.hpp"

namespace npu::model {
namespace {

sc_core::sc_time span(SimTime from, SimTime to) {
  return sc_core::sc_time::from_value(to - from);
}

}  // namespace

Agenda::Agenda(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

void Agenda::schedule(SimTime when, void* object, std::uint64_t argument, HandlerQueue::Call call) {
  sc_assert(when >= sim_now());
  handlers_.push(when, {object, argument, call});
  if (!running_ && !process_ahead_) arm(handlers_.first());
}

// Handlers until `until` or the kernel's turn. A process made runnable ends that: it may schedule
// more.
void Agenda::serve(SimTime until) {
  while (!stops() && notices_.empty()) {
    const SimTime due = handlers_.first();
    if (due > until || due >= limit_) return;
    detail::ahead_to = due;
    run_due(due);
  }
}

void Agenda::run() {
  if (!wake_.arrived(sc_core::sc_time_stamp().value())) return;
  for (auto* event : notices_) event->notify();
  notices_.clear();
  if (stopped_) return sc_core::sc_pause();
  running_ = true;
  detail::in_step = sim_now();
  run_due(detail::in_step);
  detail::in_step = 0;
  if (may_run_ahead_) {
    advance_ahead();
  } else if (!handlers_.empty()) {
    arm(handlers_.first());
  }
  if (handlers_.empty()) alarms_.forget_ended();
  running_ = false;
}

void Agenda::advance_ahead() {
  const SimTime kernel = sim_now();
  limit_ = kernel_idle_until();
  serve(UINT64_MAX);
  const SimTime reached = sim_now();
  land();
  if (stopped_ && reached == kernel) return sc_core::sc_pause();
  // The kernel's time ends there, too.
  if ((handlers_.empty() || stopped_) && reached != kernel) arm(reached);
}

bool Agenda::asks() {
  static const std::atomic<bool> kAlways{true};
  if (!stopped_ && look_()) {
    stopped_ = true;
    raised_ = &kAlways;
  }
  return stopped_;
}

// The calling process goes no further, and the kernel stops where it has come.
void Agenda::stay() {
  const SimTime reached = sim_now();
  land();
  const SimTime kernel = sim_now();
  if (reached > kernel) wait_apart([&] { sc_core::wait(span(kernel, reached)); });
  sc_core::sc_pause();
  wait_apart([this] { sc_core::wait(never_); });
}

SimTime Agenda::kernel_idle_until() const {
  const SimTime kernel = detail::kernel_time.value();
  const SimTime idle = sc_core::sc_time_to_pending_activity().value();
  return kernel + std::min(idle, UINT64_MAX - kernel);
}

// Whether the calling process may go on ahead of the kernel, up to limit_.
bool Agenda::take_off() {
  if (process_ahead_) return notices_.empty();
  if (!may_run_ahead_ || running_ || !notices_.empty()) return false;
  limit_ = kernel_idle_until();
  if (limit_ == wake_.next()) {  // the kernel's next is our own
    wake_.disarm();
    limit_ = kernel_idle_until();
  }
  process_ahead_ = true;
  return true;
}

// Back to the kernel's time; what is ahead of it is left to run().
void Agenda::land() {
  const SimTime reached = sim_now();
  process_ahead_ = false;
  detail::ahead_to = 0;
  if (!notices_.empty()) {
    arm(reached);
  } else if (!handlers_.empty()) {
    arm(handlers_.first());
  } else {
    alarms_.forget_ended();
  }
}

void Agenda::wait_until(SimTime when) {
  if (take_off()) {
    running_ = true;
    serve(when);
    running_ = false;
    if (stopped_) return stay();
    if (notices_.empty() && when < limit_) {
      detail::ahead_to = when;
      return;
    }
  }
  land();
  const SimTime kernel = sim_now();
  if (when > kernel) wait_apart([&] { sc_core::wait(span(kernel, when)); });
  while (due_now()) wait_a_delta();
}

void Agenda::wait(const sc_core::sc_event& event, SimTime limit) {
  if (take_off()) {
    running_ = true;
    serve(limit);
    running_ = false;
    if (stopped_) return stay();
    if (notices_.size() == 1 && notices_.front() == &event) {
      notices_.clear();
      return;
    }
    if (notices_.empty() && limit < limit_) {
      detail::ahead_to = limit;
      return;
    }
  }
  wait_with_others(event, limit);
}

void Agenda::wait_with_others(const sc_core::sc_event& event, SimTime limit, LimitOf of) {
  land();
  wait_apart([&] {
    if (limit == UINT64_MAX) {
      sc_core::wait(event);
    } else {
      alarms_.wait(event, limit, of);
    }
  });
}

void Agenda::wait_a_delta() {
  wait_apart([] { sc_core::wait(sc_core::SC_ZERO_TIME); });
}

SimTime Agenda::next_activity() {
  if (kernel_idle_until() == wake_.next()) wake_.disarm();  // our own: handlers are looked at below
  alarms_.disarm();
  const SimTime kernel = std::min(kernel_idle_until(), alarms_.first());
  alarms_.arm();
  return only_timeouts() ? kernel : std::min(kernel, handlers_.first());
}

// Whether all handlers are there for what is over.
bool Agenda::only_timeouts() {
  const auto voided = std::count_if(timeouts_.begin(), timeouts_.end(),
                                    [](Timeout* timeout) { return timeout->is_void(); });
  return pending() == static_cast<std::size_t>(voided);
}

// Whether a limit that comes now, in the kernel's time, is all that could make anything happen.
bool Agenda::only_limits() {
  if (sc_core::sc_pending_activity_at_current_time() || !only_timeouts()) return false;
  wake_.disarm();  // for these
  const bool only = kernel_idle_until() == UINT64_MAX;
  if (!handlers_.empty()) arm(handlers_.first());
  return only;
}

void Agenda::catch_up() {
  const SimTime reached = sim_now();
  if (!process_ahead_) return;
  land();
  const SimTime kernel = sim_now();
  if (reached > kernel) wait_apart([&] { sc_core::wait(span(kernel, reached)); });
}

void Agenda::notify(sc_core::sc_event& event) {
  if (detail::ahead_to == 0) {
    event.notify();
  } else {
    notices_.push_back(&event);
  }
}

void Agenda::arm(SimTime when) {
  wake_.arm(when, sim_now());
}

}  // namespace npu::model
