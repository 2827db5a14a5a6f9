// SPDX-License-Identifier: Apache-2.0
// What the card has said of a program's queues at fault, until whoever uses the queue asks.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "npu/driver/process.hpp"

namespace npu::exec::acl {

class FaultBook {
 public:
  explicit FaultBook(driver::ProcessContext& process) : process_(process) {}

  // The oldest one of the queue, with which the others are gone; nothing: the card has said nothing
  // of the queue.
  std::optional<driver::QueueFault> take(driver::QueueId queue) {
    for (auto& fault : process_.take_faults()) faults_.push_back(fault);
    const auto is_its = [queue](const auto& fault) { return fault.queue && *fault.queue == queue; };
    const auto found = std::find_if(faults_.begin(), faults_.end(), is_its);
    if (found == faults_.end()) return std::nullopt;
    const auto fault = *found;
    faults_.erase(std::remove_if(found, faults_.end(), is_its), faults_.end());
    return fault;
  }

 private:
  driver::ProcessContext& process_;
  std::vector<driver::QueueFault> faults_;
};

}  // namespace npu::exec::acl
