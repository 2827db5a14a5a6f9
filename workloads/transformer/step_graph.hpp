// SPDX-License-Identifier: Apache-2.0
// A step's launches, recorded once and run again for every later step. Only operators whose call
// differs from that of the step before, such as attention over more keys, are called again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/operators/runner.hpp"
#include "npu/driver/launch_list.hpp"
#include "workloads/framework/context.hpp"
#include "workloads/transformer/step.hpp"

namespace npu::workloads::transformer {

class StepGraph {
 public:
  struct Card {
    driver::ProcessContext& process;
    operators::OperatorRunner& runner;
    operators::Launcher& launcher;
  };
  // All must outlive it.
  StepGraph(Context& context, const Card& card) : context_(context), card_(card) {}

  bool is_recorded() const { return list_ != nullptr; }
  // Operations of all cards are gaps between the launches. Errors: those of the operators' calls,
  // of LaunchList and of the card.
  Status record(const std::vector<Operation>& operations);
  // The next run is of these. Recorded anew if what differs is more than arguments and blocks.
  // Nothing may be running.
  Status change_to(const std::vector<Operation>& operations);
  Status run();
  Status wait();

  // Of the last run. Numbers of gaps are in the order of the operations.
  driver::LaunchList& list() { return *list_; }
  // Launches of operation `index`: the first one's number, and the one's behind the last.
  struct Launches {
    std::size_t first = 0, end = 0;
  };
  const Launches& launches_of(std::size_t index) const { return launches_[index]; }

 private:
  using Take = std::function<Status(const driver::KernelLaunch& launch)>;

  Status call(const Operation& operation, const Take& take);
  Status record_once(const std::vector<Operation>& operations);
  Result<bool> update(const std::vector<Operation>& operations);
  Instant deadline() const;

  Context& context_;
  const Card card_;
  std::unique_ptr<driver::LaunchList> list_;
  std::vector<Operation> operations_;  // as recorded or updated
  std::vector<Launches> launches_;     // of each operation
  driver::DeviceAddress workspace_;    // that the arguments name
};

}  // namespace npu::workloads::transformer
