// SPDX-License-Identifier: Apache-2.0
// From cores to consumers: busy cores are looked at in turn, and what has ended tells its consumers
// at once.
#pragma once

#include "firmware/aicpu/ready_tasks.hpp"
#include "firmware/aicpu/run_stop.hpp"

namespace npu::firmware {

class Completion {
 public:
  Completion(const RunView& run, Cores& cores, CoreLink& link, ReadyTasks& ready,
             TensorCopies& copies, Progress& progress, RunStop& stop, PhaseMark& phase)
      : run_(run),
        port_(run.port()),
        cores_(cores),
        link_(link),
        ready_(ready),
        copies_(copies),
        progress_(progress),
        stop_(stop),
        phase_(phase) {}

  // A look at each core that has work. False: nothing new.
  bool sweep();
  // Of tasks that have ended without having run. Those that become ready by it have their turn in
  // the next round.
  void resolve_skipped();

  std::uint64_t polls() const { return polls_; }  // looks at cores

 private:
  void proceed(Worker& worker, Seen seen);
  void ended(const Assignment& what, const Worker& worker);
  void resolve(std::uint32_t task);

  const RunView run_;
  AicpuPort& port_;
  Cores& cores_;
  CoreLink& link_;
  ReadyTasks& ready_;
  TensorCopies& copies_;
  Progress& progress_;
  RunStop& stop_;
  PhaseMark& phase_;
  std::uint64_t polls_ = 0;
};

}  // namespace npu::firmware
