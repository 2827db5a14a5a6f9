// SPDX-License-Identifier: Apache-2.0
// Tasks that end without a block to run, and whose consumers have not been told yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::firmware {

class SkippedTasks {
 public:
  bool empty() const { return tasks_.empty(); }
  void add(std::uint32_t task) { tasks_.push_back(task); }
  // `visit(task)`, once for each that is there now. Those that it adds have their turn at the next
  // call.
  template <class F>
  void take(F visit) {
    const std::size_t count = tasks_.size();
    for (std::size_t i = 0; i < count; ++i) visit(tasks_[i]);
    if (tasks_.size() == count) return tasks_.clear();
    tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(count));
  }

 private:
  std::vector<std::uint32_t> tasks_;
};

}  // namespace npu::firmware
