// SPDX-License-Identifier: Apache-2.0
// From cores to consumers: busy cores are looked at in turn, and what has ended tells its consumers
// at once.
#pragma once

#include "firmware/aicpu/ready_tasks.hpp"
#include "firmware/aicpu/run_thread.hpp"

namespace npu::firmware {

class Completion {
 public:
  Completion(RunThread& thread, ThreadCores& cores, ReadyTasks& ready, TensorCopies& copies)
      : run_(thread.run),
        port_(run_.port()),
        cores_(cores.cores),
        link_(*cores.link),
        ready_(ready),
        copies_(copies),
        progress_(thread.progress),
        stop_(thread.stop),
        phase_(thread.phase) {}

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
