// SPDX-License-Identifier: Apache-2.0
// A step's launches, captured once and run again for every later step. Operations of all cards are
// not in it: they divide it into parts, each a graph of the card's stream. Only operators whose
// call differs from that of the step before, such as attention over more keys, are called again.
#pragma once

#include <memory>
#include <vector>

#include "kernels/operators/runner.hpp"
#include "npu/driver/stream_graph.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/transformer/step.hpp"

namespace npu::workloads::transformer {

class StepGraph {
 public:
  // All must outlive it.
  StepGraph(Context& context, operators::OperatorRunner& runner, operators::Launcher& launcher)
      : context_(context), runner_(runner), launcher_(launcher) {}

  // Errors: those of the operators' calls and of the stream.
  Status record(const std::vector<Operation>& operations);
  // The next run is of these. Recorded anew if other kernels are launched. Waits until the last run
  // has ended.
  Status change_to(const std::vector<Operation>& operations);
  // Submits the launches in front of the first operation of all cards (part 0), or those behind the
  // next one.
  Status run(std::size_t part);

  // Where the launches of operation `index` are, of the last run.
  std::vector<driver::QueueTicket> tickets_of(std::size_t index) const;

 private:
  struct Part {
    std::unique_ptr<driver::StreamGraph> graph;
    std::vector<driver::QueueTicket> tickets;
  };
  // Of an operation.
  struct Launches {
    std::size_t part = 0, first = 0, end = 0;
  };

  // While the stream captures.
  Result<unsigned> call(const Operation& operation);
  Status record_part(const std::vector<Operation>& operations, std::size_t& next);
  // False: there are other launches.
  Result<bool> update(const std::vector<Operation>& operations);

  Context& context_;
  operators::OperatorRunner& runner_;
  operators::Launcher& launcher_;
  std::vector<Part> parts_;
  std::vector<Operation> operations_;  // as recorded or updated
  std::vector<Launches> launches_;     // of each operation
};

}  // namespace npu::workloads::transformer
