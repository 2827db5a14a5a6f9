// SPDX-License-Identifier: Apache-2.0
// The phases that an AICPU's program says it is in: what it does in each, and the trace's events
// of them.
#pragma once

#include "model/aicpu/aicpu_thread.hpp"
#include "model/aicpu/aicpu_work.hpp"

namespace npu::model {

class PhaseLog {
 public:
  PhaseLog(AicpuThread& thread, Simulation& sim, std::uint32_t track, AicpuStatistics& statistics)
      : thread_(thread), sim_(sim), track_(track), statistics_(statistics) {}

  // A block begins, idle.
  void begin();
  void enter(platform::AicpuPhase phase, std::uint32_t task);
  // The present one ends at local time.
  void end();

 private:
  AicpuThread& thread_;
  Simulation& sim_;
  const std::uint32_t track_;
  AicpuStatistics& statistics_;
  platform::AicpuPhase phase_ = platform::AicpuPhase::kIdle;
  AicpuWork at_begin_;  // of the phase
  std::uint32_t task_ = 0;
  SimTime since_ = 0;
};

}  // namespace npu::model
