// SPDX-License-Identifier: Apache-2.0
// Runs of task graphs: image to the card, scheduler and executor launched beside each other on
// streams of their own, the end of both, what they have left. Streams in which something hangs are
// given up and made anew.
#pragma once

#include <memory>
#include <vector>

#include "driver/device/device_parts.hpp"
#include "driver/runtime/context_parts.hpp"
#include "npu/driver/staged_copies.hpp"

namespace npu::driver {

struct RunLayout;

class GraphRunner {
 public:
  GraphRunner(Device& device, ProcessContext& process, StagedCopies& copies,
              const CoreCounts& cores, const Programs& programs)
      : platform_(DeviceParts::link(device).platform()),
        device_(device),
        process_(process),
        copies_(copies),
        cores_(cores),
        programs_(programs),
        arguments_(process) {}

  Status open();
  std::uint64_t runs() const { return runs_; }
  // `last` becomes the report, too, when the card has given back what there is of the run: then it
  // may have failed all the same.
  Status run(const TaskGraph& graph, const RunOptions& options, RunReport& report, RunReport& last);

 private:
  Status select_cores(unsigned block_dim);
  Status prepare(const TaskGraph& graph, const RunLayout& layout, const RunOptions& options);
  void trace_tasks(const TaskGraph& graph, const RunLayout& layout);
  Status launch(RunReport& report, const RunOptions& options);
  void give_up();
  Status read_back(const TaskGraph& graph, const RunLayout& layout, RunReport& report);
  Status read_tensors(const TaskGraph& graph, const RunLayout& layout,
                      const std::vector<abi::TensorDump>& dumps, RunReport& report);
  Instant now() { return platform_.clock().now(); }

  platform::Platform& platform_;
  Device& device_;
  ProcessContext& process_;
  StagedCopies& copies_;
  const CoreCounts& cores_;
  const Programs& programs_;
  std::uint64_t runs_ = 0;  // that have begun
  ArgumentPool arguments_;  // of which streams take nothing: a run has its own
  std::unique_ptr<ExecutionStream> schedulers_, executors_;
  std::unique_ptr<platform::DmaMemory> staging_;
  DeviceAddress area_;  // of the runs
  Bytes area_size_ = 0;
  unsigned selected_ = 0;  // clusters that the executors may use
  QueueFault core_fault_;  // of the last run's executors, if there was one
};

}  // namespace npu::driver
