// SPDX-License-Identifier: Apache-2.0
// The end of a run, good or bad: all cores are sent away, for a bounded time, and thread 0 waits
// until the other threads are through.
#pragma once

#include "firmware/aicpu/cores.hpp"
#include "firmware/aicpu/run_stop.hpp"
#include "firmware/aicpu/watchdog_times.hpp"

namespace npu::firmware {

class Dismissal {
 public:
  Dismissal(const RunView& run, const WatchdogTimes& times, CoreLink& link, const RunStop& stop)
      : run_(run), port_(run.port()), times_(times), link_(link), stop_(stop) {}

  void dismiss(const Cores& cores);
  // Thread 0. `dealt`: it has had its cores.
  void await_others(bool dealt);

 private:
  void take_over(unsigned thread);
  bool timed_out() const { return stop_.why() == Stop::kTimeout; }

  const RunView& run_;
  AicpuPort& port_;
  const WatchdogTimes& times_;
  CoreLink& link_;
  const RunStop& stop_;
};

}  // namespace npu::firmware
