// SPDX-License-Identifier: Apache-2.0
#include "model/core/agenda.hpp"

#include <algorithm>

namespace npu::model {
namespace {

constexpr std::size_t kChildren = 4;

}  // namespace

Agenda::Agenda(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void Agenda::schedule(SimTime when, Entry entry) {
  sc_assert(when >= sim_now());
  entry.sequence = next_sequence_++;
  std::size_t hole = heap_.size();
  heap_.push_back(entry);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / kChildren;
    if (!earlier(entry, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = entry;
  if (!running_) arm(heap_.front().when);
}

Agenda::Entry Agenda::take_first() {
  const Entry first = heap_.front();
  const Entry last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kChildren + 1) {
    const std::size_t end = std::min(child + kChildren, size);
    std::size_t least = child;
    for (++child; child < end; ++child) {
      if (earlier(heap_[child], heap_[least])) least = child;
    }
    if (!earlier(heap_[least], last)) break;
    heap_[hole] = heap_[least];
    hole = least;
  }
  if (size > 0) heap_[hole] = last;
  return first;
}

void Agenda::run_due(SimTime now) {
  while (!heap_.empty() && heap_.front().when <= now) {
    const Entry entry = take_first();
    entry.call(entry.object, entry.argument);
  }
}

void Agenda::run() {
  armed_for_ = UINT64_MAX;
  for (auto* event : notices_) event->notify();
  notices_.clear();
  running_ = true;
  run_due(sim_now());
  if (may_run_ahead_) {
    advance_ahead();
  } else if (!heap_.empty()) {
    arm(heap_.front().when);
  }
  running_ = false;
}

// A process made runnable, now or by a handler further on, ends the run: it may schedule more.
void Agenda::advance_ahead() {
  const sc_core::sc_time idle = sc_core::sc_time_to_pending_activity();
  const SimTime kernel = sim_now();
  const SimTime limit = kernel + std::min<SimTime>(idle.value(), UINT64_MAX - kernel);
  SimTime reached = kernel;
  while (notices_.empty() && !heap_.empty() && heap_.front().when < limit) {
    detail::ahead_to = reached = heap_.front().when;
    run_due(reached);
  }
  detail::ahead_to = 0;
  if (!notices_.empty()) {
    arm(reached);
  } else if (!heap_.empty()) {
    arm(heap_.front().when);
  } else if (reached != kernel) {
    arm(reached);  // so that the kernel's time ends where the last handler was
  }
}

void Agenda::notify(sc_core::sc_event& event) {
  if (detail::ahead_to == 0) {
    event.notify();
  } else {
    notices_.push_back(&event);
  }
}

void Agenda::arm(SimTime when) {
  if (when >= armed_for_) return;
  armed_for_ = when;
  wake_.notify(sc_core::sc_time::from_value(when - sim_now()));
}

}  // namespace npu::model
