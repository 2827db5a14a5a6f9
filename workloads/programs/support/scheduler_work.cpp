// SPDX-License-Identifier: Apache-2.0
#include "workloads/programs/support/scheduler_work.hpp"

namespace npu::workloads {

SchedulerWork::SchedulerWork(const Context& context, std::vector<std::string> columns)
    : context_(context), card_(context.parameters.integer("card")), columns_(std::move(columns)) {}

void SchedulerWork::begin() {
  before_ = context_.simulator.aicpu_phases(card_);
}

void SchedulerWork::end(std::uint64_t tasks, const std::vector<std::string>& values) {
  const auto after = context_.simulator.aicpu_phases(card_);
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const auto& phase = after[i];
    const auto& was = before_[i];
    const auto per_task = [tasks](std::uint64_t now, std::uint64_t before) {
      return Number::quotient(now - before, tasks, 1).text();
    };
    if (phase.loads == was.loads && phase.register_accesses == was.register_accesses &&
        phase.stores == was.stores) {
      continue;
    }
    auto row = values;
    row.insert(
        row.end(),
        {phase.name, phase.instructions ? per_task(*phase.instructions, *was.instructions) : "-",
         per_task(phase.loads, was.loads), per_task(phase.misses, was.misses),
         per_task(phase.stores, was.stores),
         per_task(phase.register_accesses, was.register_accesses)});
    rows_.push_back(std::move(row));
  }
}

void SchedulerWork::report() const {
  if (rows_.empty()) return;
  auto columns = columns_;
  columns.insert(columns.end(),
                 {"phase", "instructions", "loads", "misses", "stores", "register accesses"});
  context_.report.add_table("The scheduler by phase, per task", std::move(columns)).rows = rows_;
}

}  // namespace npu::workloads
