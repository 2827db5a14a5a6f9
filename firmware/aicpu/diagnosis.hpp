// SPDX-License-Identifier: Apache-2.0
// Why a run stands still, for its result. The diagnosis goes in the order running, ready, wiring
// not finished, waiting (runtime.md A7, where waiting comes before: here the waiting may be for
// what is not wired yet).
#pragma once

#include "firmware/aicpu/run_thread.hpp"
#include "firmware/aicpu/wiring.hpp"

namespace npu::firmware {

class Diagnosis {
 public:
  Diagnosis(const RunThread& thread, const ThreadCores& cores, const ReadyQueues& queues,
            const Wiring& wiring, abi::RunResult& result)
      : run_(thread.run),
        port_(run_.port()),
        times_(thread.times),
        cores_(cores.cores),
        link_(*cores.link),
        queues_(queues),
        wiring_(wiring),
        result_(result) {}

  // What thread 0 needs of this thread.
  void report() const;
  // Thread 0: into the result.
  void make();

 private:
  // What a thread tells thread 0.
  struct Standstill {
    std::uint32_t reported = 0;
    std::uint32_t running = 0, ready = 0;
    std::uint32_t task = kNoTask, worker = kNoWorker, physical = kNoWorker, cond = 0;
    std::uint32_t ready_task = kNoTask, block = kNoBlock;
  };

  Standstill standstill() const;
  Standstill standstill_of_all() const;
  void blame_waiting();
  std::uint32_t open_producer(std::uint32_t task) const;
  bool is_waiting(std::uint32_t task) const;

  const RunView& run_;
  AicpuPort& port_;
  const WatchdogTimes& times_;
  const Cores& cores_;
  CoreLink& link_;
  const ReadyQueues& queues_;
  const Wiring& wiring_;
  abi::RunResult& result_;
};

}  // namespace npu::firmware
