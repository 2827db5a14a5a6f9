// SPDX-License-Identifier: Apache-2.0
// What the scheduler on the card's AICPUs does for a task, by phase: a table of a report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/framework/context.hpp"

namespace npu::workloads {

class SchedulerWork {
 public:
  // Rows begin with the values of `columns`.
  SchedulerWork(const Context& context, std::vector<std::string> columns = {});
  // A run begins, of a card whose AICPUs do nothing.
  void begin();
  // It has ended, and had so many tasks; `values` are those of the columns.
  void end(std::uint64_t tasks, const std::vector<std::string>& values = {});
  // All runs, in the report: per task, instructions where they are counted, else "-".
  void report() const;

 private:
  const Context& context_;
  const std::size_t card_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<AicpuPhase> before_;
};

}  // namespace npu::workloads
