// SPDX-License-Identifier: Apache-2.0
// A run in which no task ends any more: looked at several times in the watchdog's time, and given
// up so early that the result is written when it is over.
#pragma once

#include "firmware/aicpu/run_thread.hpp"

namespace npu::firmware {

class Watchdog {
 public:
  Watchdog(RunThread& thread, ThreadCores& cores)
      : port_(thread.run.port()),
        times_(thread.times),
        cores_(cores.cores),
        link_(*cores.link),
        progress_(thread.progress),
        stop_(thread.stop) {}

  // The run begins.
  void begin();
  // Of its next look, in ticks.
  std::uint64_t deadline() const { return deadline_; }
  // Looks for stopped cores if nothing has moved since the last look; after too many of those
  // thread 0 gives the run up.
  void look_around();

 private:
  void check_exceptions();

  AicpuPort& port_;
  const WatchdogTimes& times_;
  const Cores& cores_;
  CoreLink& link_;
  const Progress& progress_;
  RunStop& stop_;
  std::uint64_t deadline_ = 0;
  std::uint64_t seen_moves_ = 0;
  std::uint64_t quiet_since_ = 0;
};

}  // namespace npu::firmware
