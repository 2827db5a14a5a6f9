// SPDX-License-Identifier: Apache-2.0
#include "tools/reports/report.hpp"

#include <algorithm>

#include "tools/reports/digest.hpp"

namespace npu::reports {
namespace {

const Metric* find_in(const std::vector<Metric>& metrics, const std::string& name) {
  const auto it = std::find_if(metrics.begin(), metrics.end(),
                               [&](const Metric& each) { return each.name == name; });
  return it == metrics.end() ? nullptr : &*it;
}

}  // namespace

Picoseconds Breakdown::total() const {
  Picoseconds sum;
  for (const auto& part : parts) sum += part.time;
  return sum;
}

void Report::add_metric(std::string name, Number value, std::string unit) {
  metrics_.push_back({std::move(name), value, std::move(unit)});
}

Table& Report::add_table(std::string title, std::vector<std::string> columns) {
  tables_.push_back({std::move(title), std::move(columns), {}});
  return tables_.back();
}

void Report::add_program(const std::string& name, ConstByteSpan image) {
  const bool known = std::any_of(programs_.begin(), programs_.end(),
                                 [&](const UsedProgram& each) { return each.name == name; });
  if (!known) programs_.push_back({name, sha256_text(image)});
}

void Report::add_counter(std::string name, Number value, std::string unit) {
  counters_.push_back({std::move(name), value, std::move(unit)});
}

const Metric* Report::find(const std::string& name) const {
  return find_in(metrics_, name);
}

const Counter* Report::find_counter(const std::string& name) const {
  return find_in(counters_, name);
}

}  // namespace npu::reports
