// SPDX-License-Identifier: Apache-2.0
// A task graph in a fake machine's memory, run by the scheduler, and what came of it.
#pragma once

#include <array>
#include <vector>

#include "tests/unit/firmware/fake_machine.hpp"

namespace npu::test {

using abi::CoreType;
using abi::RunStatus;
using abi::TaskShape;

// `clusters` of one cube core and two vector cores, cube cores first.
inline std::vector<CoreType> split_cores(unsigned clusters) {
  std::vector<CoreType> cores(clusters, CoreType::kAic);
  cores.insert(cores.end(), 2 * clusters, CoreType::kAiv);
  return cores;
}
inline std::vector<CoreType> coupled_cores(unsigned count) {
  return std::vector<CoreType>(count, CoreType::kCoupled);
}

struct Node {
  TaskShape shape = TaskShape::kAiv;
  std::vector<std::uint32_t> producers;
  std::uint32_t blocks = 1;
  std::uint16_t flags = 0;
  int predicate = -1;        // -1: none; else the word's value
  std::uint64_t dumped = 0;  // bytes of a tensor that is copied before and after
};

class GraphRun {
 public:
  explicit GraphRun(std::vector<CoreType> cores = split_cores(2), unsigned threads = 1)
      : machine(std::move(cores), threads) {
    header.workers = static_cast<std::uint32_t>(machine.cores.size());
    header.threads = threads;
    header.watchdog_ns = 100'000;
  }

  std::uint32_t add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }
  std::uint32_t add(TaskShape shape, std::vector<std::uint32_t> producers = {}) {
    return add(Node{shape, std::move(producers)});
  }

  abi::RunResult run() {
    place();
    machine.run(address);
    return result();
  }
  // Lays the run out; `header` may be spoilt between place() and machine.run(address).
  void place();
  abi::RunResult result() { return machine.get<abi::RunResult>(header.result); }
  RunStatus status() { return static_cast<RunStatus>(result().status); }

  std::vector<CoreRun> runs_of(std::uint32_t task) const {
    std::vector<CoreRun> found;
    for (const auto& run : machine.log) {
      if (run.task == task) found.push_back(run);
    }
    return found;
  }
  // Of a node with `dumped`: before its dispatch and after its completion.
  std::array<abi::TensorDump, 2> dumps_of(std::uint32_t task);
  // Every task with a shape ran each block once, after all its producers had ended.
  void expect_complete_and_in_order() const;

  FakeMachine machine;
  abi::RunHeader header;
  std::vector<Node> nodes;
  std::uint64_t address = 0;
};

}  // namespace npu::test
