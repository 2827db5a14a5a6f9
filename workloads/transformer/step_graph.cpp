// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/programs/support/card_session.hpp"

namespace npu::workloads::transformer {
namespace {

// Of operations of the same step: all that depends on how many tokens came before. Calls of another
// model or batch are never compared.
bool is_same(const operators::OperatorCall& a, const operators::OperatorCall& b) {
  return a.name == b.name && a.shape == b.shape && a.inputs == b.inputs && a.results == b.results;
}

}  // namespace

Instant StepGraph::deadline() const {
  return deadline_of(context_);
}

// The operator's host part runs as always; where it would launch, `take` gets the launch.
Status StepGraph::call(const Operation& operation, const Take& take) {
  auto kernel = card_.runner.find(operation.call, context_.interrupted);
  if (!kernel) return forward_error(kernel);
  card_.launcher.capture(take);
  const auto ran = card_.runner.run(operation.call, std::move(*kernel));
  card_.launcher.capture(nullptr);
  return ran ? Status() : Status(forward_error(ran));
}

// Twice: the first time tells how much memory the operators need to work in, where that is then
// stays.
Status StepGraph::record(const std::vector<Operation>& operations) {
  if (auto ok = record_once(operations); !ok) return ok;
  if (workspace_ != card_.launcher.workspace_at()) {
    if (auto ok = record_once(operations); !ok) return ok;
  }
  return list_->finish(deadline());
}

Status StepGraph::record_once(const std::vector<Operation>& operations) {
  workspace_ = card_.launcher.workspace_at();
  driver::LaunchListOptions options;
  options.cores = card_.launcher.masks();
  list_ = std::make_unique<driver::LaunchList>(card_.process, options);
  operations_ = operations;
  launches_.clear();
  for (const auto& operation : operations) {
    const auto first = list_->launches();
    if (operation.collective) {
      list_->add_gap();
    } else if (auto ok = call(operation,
                              [this](const driver::KernelLaunch& launch) -> Status {
                                const auto added = list_->add(launch);
                                return added ? Status() : Status(forward_error(added));
                              });
               !ok) {
      return ok;
    }
    launches_.push_back({first, list_->launches()});
  }
  return {};
}

Status StepGraph::change_to(const std::vector<Operation>& operations) {
  const auto updated = update(operations);
  if (!updated) return forward_error(updated);
  return *updated ? Status() : record(operations);
}

// False: there are other launches, or other places of what the arguments name.
Result<bool> StepGraph::update(const std::vector<Operation>& operations) {
  if (operations.size() != operations_.size()) return false;
  if (workspace_ != card_.launcher.workspace_at()) return false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].collective || is_same(operations[i].call, operations_[i].call)) continue;
    std::size_t number = launches_[i].first;
    bool fits = true;
    const auto ok = call(operations[i], [&](const driver::KernelLaunch& launch) -> Status {
      fits = fits && number < launches_[i].end;
      if (!fits) return {};
      auto changed = list_->update(number++, launch);
      fits = changed || changed.error().code != ErrorCode::kInvalidArgument;
      return fits ? changed : Status();
    });
    if (!ok) return forward_error(ok);
    if (!fits || number != launches_[i].end) return false;
    if (workspace_ != card_.launcher.workspace_at()) return false;
    operations_[i] = operations[i];
  }
  return true;
}

Status StepGraph::run() {
  return list_->run(deadline());
}

Status StepGraph::wait() {
  return list_->wait(deadline());
}

}  // namespace npu::workloads::transformer
