// SPDX-License-Identifier: Apache-2.0
// The phase that a thread is in, as a timeline shows it.
#pragma once

#include "firmware/aicpu/run_view.hpp"

namespace npu::firmware {

class PhaseMark {
 public:
  explicit PhaseMark(AicpuPort& port) : port_(port) {}

  void enter(AicpuPhase phase, std::uint32_t task = kNoTask) {
    phase_ = phase, task_ = task;
    port_.phase(phase, task);
  }
  // Of what happens within a phase, until resume().
  void interrupt(AicpuPhase phase, std::uint32_t task) { port_.phase(phase, task); }
  void resume() { port_.phase(phase_, task_); }

 private:
  AicpuPort& port_;
  AicpuPhase phase_ = AicpuPhase::kIdle;
  std::uint32_t task_ = kNoTask;
};

}  // namespace npu::firmware
