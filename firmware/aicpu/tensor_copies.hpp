// SPDX-License-Identifier: Apache-2.0
// Copies of tensors before a task's dispatch and after its completion (runtime.md A5): by the
// thread that makes the task ready, before anybody can take it, and by the one that sees its last
// block end, before any consumer is told.
#pragma once

#include "firmware/aicpu/phase_mark.hpp"
#include "firmware/aicpu/progress.hpp"

namespace npu::firmware {

class TensorCopies {
 public:
  TensorCopies(const RunView& run, PhaseMark& phase, Progress& progress)
      : run_(run), port_(run.port()), phase_(phase), progress_(progress) {}

  bool wanted() const { return run_.header().dump_count != 0; }
  // Those of the task that are to be taken at this stage.
  void take(std::uint32_t task, abi::DumpStage stage);
  std::uint64_t ticks() const { return ticks_; }  // that all of them have taken

 private:
  void copy(const abi::TensorDump& what);

  const RunView& run_;
  AicpuPort& port_;
  PhaseMark& phase_;
  Progress& progress_;
  std::uint64_t ticks_ = 0;
};

}  // namespace npu::firmware
