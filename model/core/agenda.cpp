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

void Agenda::schedule(SimTime when, const Handler& handler) {
  sc_assert(when >= sim_now());
  if (free_.empty()) {
    sc_assert(handlers_.size() <= kPlaceMask);
    free_.push_back(handlers_.size());
    handlers_.emplace_back();
  }
  const std::uint64_t place = free_.back();
  free_.pop_back();
  handlers_[place] = handler;
  const Entry entry{when, next_sequence_++ << kPlaceBits | place};
  if (near_count_ == kNear) {
    if (earlier(near_[0], entry)) return push_far(entry);
    push_far(near_[0]);
    std::copy(near_.begin() + 1, near_.end(), near_.begin());
    --near_count_;
  } else if (!far_.empty() && earlier(far_.front(), entry)) {
    return push_far(entry);
  }
  insert_near(entry);
  if (!running_ && !process_ahead_) arm(first().when);
}

// Sorted, the earliest last: most of what is scheduled comes soon and finds its place in few steps.
void Agenda::insert_near(const Entry& entry) {
  std::size_t hole = near_count_++;
  for (; hole > 0 && earlier(near_[hole - 1], entry); --hole) near_[hole] = near_[hole - 1];
  near_[hole] = entry;
}

void Agenda::push_far(const Entry& entry) {
  far_.push_back(entry);
  std::push_heap(far_.begin(), far_.end(), later);
}

// The place of the first handler, which is free for another one from now on.
std::uint64_t Agenda::take_first() {
  const std::uint64_t place = near_[--near_count_].order & kPlaceMask;
  free_.push_back(place);
  if (near_count_ == 0) {
    // One pass from the far ones; the rest stays until they, too, are near.
    std::array<Entry, kNear / 2> next;
    std::size_t count = 0;
    for (; count < next.size() && !far_.empty(); ++count) {
      std::pop_heap(far_.begin(), far_.end(), later);
      next[count] = far_.back();
      far_.pop_back();
    }
    std::reverse_copy(next.begin(), next.begin() + count, near_.begin());
    near_count_ = count;
  }
  return place;
}

void Agenda::run_due(SimTime now) {
  while (!empty() && first().when <= now) {
    const Handler handler = handlers_[take_first()];
    handler.call(handler.object, handler.argument);
  }
}

// Handlers until `until` or the kernel's turn. A process made runnable ends that: it may schedule
// more.
void Agenda::serve(SimTime until) {
  while (!stops() && notices_.empty() && !empty() && first().when <= until &&
         first().when < limit_) {
    detail::ahead_to = first().when;
    run_due(detail::ahead_to);
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
  } else if (!empty()) {
    arm(first().when);
  }
  if (empty()) alarms_.forget_ended();
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
  if ((empty() || stopped_) && reached != kernel) arm(reached);
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
  const SimTime kernel = sc_core::sc_time_stamp().value();
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
  } else if (!empty()) {
    arm(first().when);
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

void Agenda::wait_with_others(const sc_core::sc_event& event, SimTime limit) {
  land();
  wait_apart([&] {
    if (limit == UINT64_MAX) {
      sc_core::wait(event);
    } else {
      alarms_.wait(event, limit);
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
  const auto voided = std::count_if(timeouts_.begin(), timeouts_.end(),
                                    [](Timeout* timeout) { return timeout->is_void(); });
  if (pending() == static_cast<std::size_t>(voided)) return kernel;
  return std::min(kernel, first().when);
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
