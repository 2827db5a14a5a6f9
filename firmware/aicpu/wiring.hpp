// SPDX-License-Identifier: Apache-2.0
// Thread 0 wires the graph while tasks already run: it turns the lists of producers into lists of
// consumers, a few tasks at a time.
#pragma once

#include "firmware/aicpu/phase_mark.hpp"
#include "firmware/aicpu/ready_tasks.hpp"
#include "firmware/aicpu/run_stop.hpp"

namespace npu::firmware {

class Wiring {
 public:
  Wiring(const RunView& run, const Cores& cores, ReadyTasks& ready, RunStop& stop, PhaseMark& phase)
      : run_(run), port_(run.port()), cores_(cores), ready_(ready), stop_(stop), phase_(phase) {}

  // Some more tasks. False: all were wired before.
  bool wire_some();

  std::uint32_t next() const { return next_; }    // the first task that is not wired
  std::uint64_t ended() const { return ended_; }  // when all were found wired, in ticks; 0: never

 private:
  bool wire(std::uint32_t task);
  bool wire_edge(std::uint32_t producer, std::uint32_t consumer);
  bool fits(const abi::TaskDescriptor& task) const;

  const RunView run_;
  AicpuPort& port_;
  const Cores& cores_;
  ReadyTasks& ready_;
  RunStop& stop_;
  PhaseMark& phase_;
  std::uint32_t next_ = 0;
  abi::TaskDescriptor last_;  // that was read
  std::uint32_t edges_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace npu::firmware
