// SPDX-License-Identifier: Apache-2.0
// Which task has which core. A task has a home, the core with the fewest homes when it began, and
// runs there if it can; else on any idle core; else it waits in one queue for all cores, first come
// first served. While others wait a task keeps its core for a time slice. With no more tasks than
// cores each has a home of its own, and nobody waits.
#pragma once

#include <deque>
#include <vector>

#include "model/core/agenda.hpp"
#include "model/host/host_task.hpp"

namespace npu::model {

class RunQueue {
 public:
  RunQueue(Agenda& agenda, unsigned cores, SimTime slice);

  // The task begins: it has a home.
  void enter(HostTask& task);
  // It has ended, without a core.
  void leave(const HostTask& task) { --homes_[task.home]; }
  // It wants a core. False: it has none before `granted`.
  bool take(HostTask& task);
  // Its core is the next one's in the queue.
  void give_up(HostTask& task);
  // Others have waited for longer than it may keep its core.
  bool is_over(const HostTask& task) const {
    return !waiting_.empty() && sim_now() >= task.slice_end;
  }
  bool has_waiting() const { return !waiting_.empty(); }
  // Who runs on a core; null: nobody.
  HostTask* on(unsigned core) const { return on_core_[core]; }

 private:
  void run(HostTask& task, unsigned core);
  unsigned idle_core(const HostTask& task) const;
  void watch_slice(unsigned core);
  void end_slice(std::uint64_t core);

  Agenda& agenda_;
  const SimTime slice_;
  std::vector<unsigned> homes_;     // by core: tasks whose home it is
  std::vector<HostTask*> on_core_;  // by core; null: idle
  std::vector<bool> is_watched_;    // by core: its slice's end is scheduled
  std::deque<HostTask*> waiting_;
};

}  // namespace npu::model
