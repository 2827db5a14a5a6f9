// SPDX-License-Identifier: Apache-2.0
// One thread of the task scheduler. All threads look after their own cores; thread 0 also greets
// the workers, wires the graph, watches over the run and writes its result.
#pragma once

#include "firmware/aicpu/completion.hpp"
#include "firmware/aicpu/dispatcher.hpp"
#include "firmware/aicpu/run_outcome.hpp"
#include "firmware/aicpu/watchdog.hpp"
#include "firmware/aicpu/wiring.hpp"

namespace npu::firmware {

class Scheduler {
 public:
  // `address`: of the RunHeader.
  Scheduler(AicpuPort& port, std::uint64_t address);

  void run();

 private:
  bool first() const { return thread_ == 0; }
  bool begin();
  bool open_cores();
  void loop();
  void end();

  AicpuPort& port_;
  const unsigned thread_;
  bool dealt_ = false, cancelled_ = false;
  RunThread here_;
  ThreadCores cores_;
  TensorCopies copies_;
  Dispatcher dispatcher_;
  ReadyTasks ready_;
  Wiring wiring_;  // thread 0
  Completion completion_;
  Watchdog watchdog_;
  RunOutcome outcome_;  // thread 0
};

}  // namespace npu::firmware
