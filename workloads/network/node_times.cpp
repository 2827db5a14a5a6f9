// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/node_times.hpp"

#include <algorithm>
#include <utility>

namespace npu::network {

void NodeTimer::start() {
  clear();
  run_ = {};
  submitted_.clear();
  alive_.clear();
  card_.memory().begin_peak();
  begin_ = clock_.now();
  card_.begin_waits();
}

void NodeTimer::begin(std::size_t node) {
  NodeTimes times;
  times.node = node;
  run_.nodes.push_back(std::move(times));
  submitted_.push_back({submitted(number_), 0});
  node_begin_ = clock_.now();
  waits_before_ = card_.waits().size();
  computed_before_ = card_.computed();
  operations_before_ = card_.operations();
}

void NodeTimer::end(std::size_t /*node*/, std::uint64_t operators) {
  auto& times = run_.nodes.back();
  times.operators = operators;
  for (std::size_t i = waits_before_; i < card_.waits().size(); ++i) {
    times.waited.add(card_.waits()[i]);
  }
  times.host = Spans({node_begin_, clock_.now()}).without(times.waited);
  times.computed = card_.computed() - computed_before_;
  for (std::size_t i = 0; i < times.operations.size(); ++i) {
    times.operations[i] = card_.operations()[i] - operations_before_[i];
  }
  times.memory = card_.memory().used();
  submitted_.back().end = submitted(number_);
}

void NodeTimer::made(const std::string& value, Bytes bytes) {
  const std::size_t now = run_.nodes.empty() ? 0 : run_.nodes.size() - 1;
  alive_[value] = run_.tensors.size();
  run_.tensors.push_back({value, bytes, now, now});
}

void NodeTimer::gone(const std::string& value) {
  const auto found = alive_.find(value);
  if (found == alive_.end()) return;
  run_.tensors[found->second].last = run_.nodes.empty() ? 0 : run_.nodes.size() - 1;
  alive_.erase(found);
}

// Kernels of one stream do not overlap; if they did, no time would be counted twice.
RunTimes NodeTimer::stop() {
  const auto now = clock_.now();
  run_.whole = {begin_, now};
  for (const auto& wait : card_.waits()) run_.waited.add(wait);
  run_.peak = card_.memory().peak();
  for (const auto& [value, place] : alive_) run_.tensors[place].last = run_.nodes.size();
  Instant before = begin_;
  for (std::size_t i = 0; i < run_.nodes.size(); ++i) {
    auto& node = run_.nodes[i];
    node.kernels = each_kernel(number_, submitted_[i].first, submitted_[i].end);
    for (const auto& kernel : node.kernels) {
      const auto begin = std::max(kernel.begin, before);
      node.gap.add({before, begin});
      before = std::max(kernel.end, begin);
      node.card.add({begin, before, kernel.cause});
    }
  }
  run_.rest.add({before, now});
  return std::exchange(run_, {});
}

}  // namespace npu::network
