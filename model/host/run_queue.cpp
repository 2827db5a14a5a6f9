// SPDX-License-Identifier: Apache-2.0
#include "model/host/run_queue.hpp"

#include <algorithm>

namespace npu::model {

RunQueue::RunQueue(Agenda& agenda, unsigned cores, SimTime slice)
    : agenda_(agenda), slice_(slice), homes_(cores), on_core_(cores), is_watched_(cores) {}

void RunQueue::enter(HostTask& task) {
  const auto fewest = std::min_element(homes_.begin(), homes_.end());
  ++*fewest;
  task.home = task.core = static_cast<unsigned>(fewest - homes_.begin());
}

// Its home, or else one where nobody is at home before one that may be wanted back soon. The number
// of cores: none.
unsigned RunQueue::idle_core(const HostTask& task) const {
  if (on_core_[task.home] == nullptr) return task.home;
  const auto cores = static_cast<unsigned>(on_core_.size());
  unsigned found = cores;
  for (unsigned core = 0; core < cores; ++core) {
    if (on_core_[core] != nullptr) continue;
    if (homes_[core] == 0) return core;
    found = std::min(found, core);
  }
  return found;
}

void RunQueue::run(HostTask& task, unsigned core) {
  on_core_[core] = &task;
  task.core = core;
  task.has_core = true;
  task.slice_end = sim_now() + slice_;
  if (!waiting_.empty()) watch_slice(core);
}

bool RunQueue::take(HostTask& task) {
  const unsigned core = idle_core(task);
  if (core < on_core_.size()) {
    run(task, core);
    return true;
  }
  waiting_.push_back(&task);
  if (waiting_.size() == 1) {
    for (unsigned other = 0; other < on_core_.size(); ++other) watch_slice(other);
  }
  return false;
}

void RunQueue::watch_slice(unsigned core) {
  if (is_watched_[core]) return;
  is_watched_[core] = true;
  agenda_.at<&RunQueue::end_slice>(std::max(sim_now(), on_core_[core]->slice_end), *this, core);
}

// Who polls without looking at the time must do so now; whoever else looks by himself.
void RunQueue::end_slice(std::uint64_t core) {
  is_watched_[core] = false;
  auto* const task = on_core_[core];
  if (waiting_.empty() || task == nullptr) return;
  if (!is_over(*task)) return watch_slice(static_cast<unsigned>(core));
  if (task->watched != nullptr) agenda_.notify(const_cast<sc_core::sc_event&>(*task->watched));
}

void RunQueue::give_up(HostTask& task) {
  on_core_[task.core] = nullptr;
  task.has_core = false;
  if (waiting_.empty()) return;
  auto& next = *waiting_.front();
  waiting_.pop_front();
  run(next, task.core);
  agenda_.notify(next.granted);
}

}  // namespace npu::model
