// SPDX-License-Identifier: Apache-2.0
// What the cores did in a run, from the blocks' records: how long they were busy, and how long a
// core stood idle although a block for it was ready and not yet sent (the overhead that dispatch
// causes; runtime.md A5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/abi/task_graph.hpp"

namespace npu::workloads {

// Cores of one kind. Times are ticks of the card's system counter.
struct CorePool {
  std::string name;  // "aic", "aiv"; "core": cube and vector in one
  unsigned cores = 0;
  std::uint64_t blocks = 0;
  std::uint64_t busy = 0;            // summed over the cores
  std::uint64_t dispatch_bound = 0;  // an idle core and a ready block that was not sent
  std::uint64_t phases = 0;          // so many times in a row
  std::uint64_t longest_phase = 0;
};

struct UsedCores {
  unsigned clusters = 0;      // of the run
  unsigned vector_cores = 0;  // per cluster; 0: coupled cores
  unsigned first_vector = 0;  // index of the card's first vector core
};

// `records` that were never written are passed over.
std::vector<CorePool> core_usage(const std::vector<abi::TaskRecord>& records,
                                 const UsedCores& used);

}  // namespace npu::workloads
