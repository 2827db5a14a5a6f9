// SPDX-License-Identifier: Apache-2.0
#include "tools/timeline/task_flows.hpp"

namespace npu::timeline {

using platform::QueueCause;
using platform::TaskCause;

void TaskFlows::declare(const platform::TraceEvent& event) {
  const std::uint64_t card = TaskCause::card(event.cause);
  const std::uint64_t run = TaskCause::run(event.cause);
  const auto [known, is_first] = run_of_.emplace(card, run);
  if (!is_first && known->second != run) {
    for (auto it = tasks_.begin(); it != tasks_.end();) {
      it = TaskCause::card(it->first) == card ? tasks_.erase(it) : std::next(it);
    }
    for (auto it = by_place_.begin(); it != by_place_.end();) {
      it = it->first >> 48 == card ? by_place_.erase(it) : std::next(it);
    }
    known->second = run;
  }
  Task& task = tasks_[event.cause];
  task.cause = event.cause;
  if (event.activity == platform::Activity::kTask) {
    by_place_[key(card, event.detail)] = event.cause;
  } else {
    task.producers.push_back(static_cast<std::uint32_t>(event.detail));
  }
}

// The cause of a call is the launch that runs it.
TaskFlows::Task* TaskFlows::find(const platform::TraceEvent& call) {
  const auto place = by_place_.find(key(QueueCause::card(call.cause), call.detail));
  return place == by_place_.end() ? nullptr : &tasks_.at(place->second);
}

const TaskFlows::Task* TaskFlows::find(const Task& of, std::uint32_t task) const {
  const auto found = tasks_.find((of.cause & ~std::uint64_t{UINT32_MAX}) | task);
  return found == tasks_.end() ? nullptr : &found->second;
}

}  // namespace npu::timeline
