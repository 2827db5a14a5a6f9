// SPDX-License-Identifier: Apache-2.0
// Task graphs: building them, running them, and what a run has found out as Python's values.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/python/native/card.hpp"
#include "npu/driver/task_graph.hpp"

namespace npu::python {

struct RunArguments {
  unsigned block_dim = 0;
  unsigned aicpu_threads = 3;
  std::string handshake;
  bool single_issue = false;
  bool profiling = false;
  unsigned pmu_group = 0;
  bool dump_tensors = false;
  std::int64_t watchdog_ps = 0;
  std::int64_t timeout_ps = 0;
};

// ValueError, Failure. Runs the graph to its end.
pybind11::dict run_graph(Card& card, const driver::TaskGraph& graph, const RunArguments& given);
// Of the last one, also of one that has failed.
pybind11::dict last_run(Card& card);

void bind_graph(pybind11::module_& module);

}  // namespace npu::python
