// SPDX-License-Identifier: Apache-2.0
#include "workloads/framework/counters.hpp"

#include <fmt/format.h>

namespace npu::workloads {
namespace {

// A driver without a barrier is named where one looks for what is wrong with a run.
void add_overtaken(Report& report, const std::vector<std::string>& told) {
  if (told.empty()) return;
  report.add_note(fmt::format("a write barrier is missing: {} stores overtaken, the first of them:",
                              report.find_counter("host.stores_overtaken")->value.text()));
  for (const auto& line : told) report.add_note(line);
}

// What a kernel forgot to order.
void add_hazards(Report& report, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  auto& table = report.add_table("hazards of programs of AI Cores", {"hazard"});
  for (const auto& line : lines) table.rows.push_back({line});
}

}  // namespace

void add_counters(Report& report, const SimulatorView& simulator) {
  const auto hazards = simulator.hazards();  // they are counted, too
  std::uint64_t submissions = 0;
  for (const auto& [name, value, unit, per_submission] : simulator.counters()) {
    if (!value) continue;
    if (name == "host.submissions") submissions = *value;
    report.add_counter(name, Number::count(*value), unit);
    if (!per_submission || submissions == 0) continue;
    report.add_counter(name + "_per_submission", Number::quotient(*value, submissions, 3));
  }
  add_overtaken(report, simulator.overtaken_stores());
  add_hazards(report, hazards);
}

}  // namespace npu::workloads
