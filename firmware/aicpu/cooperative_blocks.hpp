// SPDX-License-Identifier: Apache-2.0
// Tasks whose blocks must begin together (kTaskCooperative). One such task is open at a time; every
// thread claims blocks for its idle cores and writes their payloads, and when all blocks have a
// core each thread rings its own. Until all are claimed, no other work goes to such cores.
#pragma once

#include <vector>

#include "firmware/aicpu/placement.hpp"

namespace npu::firmware {

class CooperativeBlocks {
 public:
  CooperativeBlocks(const RunView& run, Cores& cores, ReadyQueues& queues, Placement& placement)
      : run_(run), port_(run.port()), cores_(cores), queues_(queues), placement_(placement) {}

  // This thread takes part in a task that was open at its last look.
  bool is_open() const { return open_ != 0; }
  // Idle cores of this shape are kept for the open task.
  bool holds_back(abi::TaskShape shape) const;
  // Opens a task if none is, takes part in it, begins. False: nothing was done.
  bool dispatch();

 private:
  bool open();
  bool join();
  bool begin();

  const RunView run_;
  AicpuPort& port_;
  Cores& cores_;
  ReadyQueues& queues_;
  Placement& placement_;
  std::uint32_t open_ = 0;         // task + 1
  TaskKind kind_;                  // of the open task
  bool claimed_ = false;           // all its blocks, by somebody
  std::uint32_t blocks_ = 0;       // that this thread has claimed, and
  std::vector<Worker*> reserved_;  // their cores
};

}  // namespace npu::firmware
