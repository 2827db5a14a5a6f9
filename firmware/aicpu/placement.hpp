// SPDX-License-Identifier: Apache-2.0
// Blocks on their way to cores: payloads are written one by one, then all cores are told in a
// burst.
#pragma once

#include <vector>

#include "firmware/aicpu/cores.hpp"
#include "firmware/aicpu/ready_queues.hpp"

namespace npu::firmware {

class Placement {
 public:
  Placement(const RunView& run, Cores& cores, CoreLink& link)
      : run_(run), port_(run.port()), cores_(cores), link_(link) {
    placed_.reserve(abi::kMaxWorkers);
  }

  // The task whose blocks are placed next.
  void begin(const Share& share);
  // Gives a block to a core, or to each core of a cluster its part of one.
  void place(std::uint32_t block, Worker& worker, std::uint32_t role = 0);
  void place(std::uint32_t block, const Cluster& cluster);
  // Tells the cores that have been given blocks since the last ring(): one barrier for all
  // payloads, then the stores to the cores.
  void ring();

  // Who is told next. What is taken out may be put back.
  std::vector<Worker*>& placed() { return placed_; }
  std::uint64_t rung() const { return rung_; }  // blocks, of mixed ones every part

 private:
  std::uint64_t open_record(std::uint32_t block, const Worker& worker);

  const RunView& run_;
  AicpuPort& port_;
  Cores& cores_;
  CoreLink& link_;
  abi::TaskDescriptor task_;
  abi::DispatchPayload payload_;  // of the next block
  std::uint32_t lanes_ = 1;       // of all blocks of the task
  std::vector<Worker*> placed_;   // payloads written, not yet rung
  std::uint64_t rung_ = 0;
};

}  // namespace npu::firmware
