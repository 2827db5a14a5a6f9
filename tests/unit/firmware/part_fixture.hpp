// SPDX-License-Identifier: Apache-2.0
// One part of the scheduler on thread 0 of a run in a fake machine's memory. What the other threads
// would write is put there by the test.
#pragma once

#include <memory>

#include "firmware/aicpu/progress.hpp"
#include "firmware/aicpu/run_stop.hpp"
#include "tests/unit/firmware/graph_run.hpp"

namespace npu::test {

// Writes down which phases a timeline would show.
class PhasePort : public FakePort {
 public:
  explicit PhasePort(FakeMachine& machine) : FakePort(machine, 0) {}
  void phase(platform::AicpuPhase phase, std::uint32_t) override { phases.push_back(phase); }
  std::vector<platform::AicpuPhase> phases;
};

class Part : public testing::Test {
 protected:
  // The graph is complete, and its header as it is to be.
  void place() {
    graph.place();
    run = std::make_unique<firmware::RunView>(port, graph.address);
  }
  template <class T>
  T control(std::uint64_t offset) {
    return graph.machine.get<T>(graph.header.scratch + offset);
  }
  template <class T>
  void set_control(std::uint64_t offset, const T& value) {
    graph.machine.put(graph.header.scratch + offset, value);
  }
  // Of thread 1.
  void set_other(const firmware::ThreadProgress& progress) {
    set_control(firmware::scratch::kProgress + abi::kCacheLine, progress);
  }

  GraphRun graph;
  PhasePort port{graph.machine};
  std::unique_ptr<firmware::RunView> run;
};

}  // namespace npu::test
