// SPDX-License-Identifier: Apache-2.0
// A thread of a run: the run as it sees it, how far it is, whether it is to stop, and its cores.
#pragma once

#include <memory>

#include "firmware/aicpu/cores.hpp"
#include "firmware/aicpu/phase_mark.hpp"
#include "firmware/aicpu/progress.hpp"
#include "firmware/aicpu/run_stop.hpp"
#include "firmware/aicpu/watchdog_times.hpp"

namespace npu::firmware {

struct RunThread {
  // `address`: of the RunHeader.
  RunThread(AicpuPort& port, std::uint64_t address)
      : run(port, address), times(run), stop(run), phase(port), progress(run) {}

  const RunView run;
  const WatchdogTimes times;
  RunStop stop;
  PhaseMark phase;
  Progress progress;
};

struct ThreadCores {
  explicit ThreadCores(const RunView& run) : link(make_core_link(run)) {}

  const std::unique_ptr<CoreLink> link;
  Cores cores;
};

}  // namespace npu::firmware
