// SPDX-License-Identifier: Apache-2.0
#include "workloads/transformer/step_graph.hpp"

#include <fmt/format.h>

namespace npu::workloads::transformer {
namespace {

// Of operations of the same step: all that depends on how many tokens came before. Calls of another
// model or batch are never compared.
bool is_same(const operators::OperatorCall& a, const operators::OperatorCall& b) {
  return a.name == b.name && a.shape == b.shape && a.inputs == b.inputs && a.results == b.results;
}

}  // namespace

Result<unsigned> StepGraph::call(const Operation& operation) {
  auto kernel = runner_.find(operation.call, context_.interrupted);
  if (!kernel) return forward_error(kernel);
  const auto ran = runner_.run(operation.call, std::move(*kernel));
  if (ran) return ran->launches;
  return fail(ran.error().code,
              fmt::format("{}: {}: {}", operation.part, operation.call.name, ran.error().context));
}

Status StepGraph::record(const std::vector<Operation>& operations) {
  parts_.clear();
  launches_.clear();
  operations_ = operations;
  for (std::size_t next = 0; next < operations.size() || parts_.empty();) {
    parts_.push_back({launcher_.make_graph(), {}});
    if (auto ok = launcher_.begin_capture(*parts_.back().graph); !ok) return ok;
    const auto recorded = record_part(operations, next);
    if (auto ended = launcher_.end_capture(); recorded && !ended) return ended;
    if (!recorded) return recorded;
  }
  return {};
}

// Up to the next operation of all cards, and over it.
Status StepGraph::record_part(const std::vector<Operation>& operations, std::size_t& next) {
  const auto part = parts_.size() - 1;
  while (next < operations.size()) {
    const auto& operation = operations[next++];
    const auto first = parts_.back().graph->launches();
    if (!operation.collective) {
      if (const auto called = call(operation); !called) return forward_error(called);
    }
    launches_.push_back({part, first, parts_.back().graph->launches()});
    if (operation.collective) return {};
  }
  return {};
}

Status StepGraph::change_to(const std::vector<Operation>& operations) {
  const auto updated = update(operations);
  if (!updated) return forward_error(updated);
  return *updated ? Status() : record(operations);
}

Result<bool> StepGraph::update(const std::vector<Operation>& operations) {
  if (operations.size() != operations_.size()) return false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].collective || is_same(operations[i].call, operations_[i].call)) continue;
    const auto& launches = launches_[i];
    if (auto ok = launcher_.begin_update(*parts_[launches.part].graph, launches.first); !ok) {
      return forward_error(ok);
    }
    const auto called = call(operations[i]);
    if (auto ended = launcher_.end_capture(); !ended) return forward_error(ended);
    if (!called && called.error().code == ErrorCode::kOutOfRange) return false;
    if (!called) return forward_error(called);
    if (*called != launches.end - launches.first) return false;
    operations_[i] = operations[i];
  }
  return true;
}

Status StepGraph::run(std::size_t part) {
  if (part >= parts_.size() || parts_[part].graph->launches() == 0) return {};
  return launcher_.run(*parts_[part].graph, &parts_[part].tickets);
}

std::vector<driver::QueueTicket> StepGraph::tickets_of(std::size_t index) const {
  const auto& launches = launches_[index];
  if (launches.first == launches.end) return {};
  const auto& tickets = parts_[launches.part].tickets;
  return {tickets.begin() + static_cast<std::ptrdiff_t>(launches.first),
          tickets.begin() + static_cast<std::ptrdiff_t>(launches.end)};
}

}  // namespace npu::workloads::transformer
