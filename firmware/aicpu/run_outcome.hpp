// SPDX-License-Identifier: Apache-2.0
// Thread 0: the result of a run, from the first note of a time until it is written.
#pragma once

#include "firmware/aicpu/progress.hpp"
#include "firmware/aicpu/run_stop.hpp"

namespace npu::firmware {

class RunOutcome {
 public:
  explicit RunOutcome(const RunView& run) : run_(run), port_(run.port()) {}

  void note_started() { result_.started = port_.system_counter(); }
  void note_handshaken() { result_.handshaken = port_.system_counter(); }
  // `wired`: when wiring had ended.
  void note_finished(std::uint64_t wired) {
    result_.finished = port_.system_counter();
    result_.wired = wired;
  }
  abi::RunResult& result() { return result_; }  // for a diagnosis
  // The last access of the run.
  void write(const RunStop& stop, const Progress& progress, const Progress::Totals& totals);

 private:
  const RunView& run_;
  AicpuPort& port_;
  abi::RunResult result_;
};

}  // namespace npu::firmware
