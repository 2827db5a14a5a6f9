// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/planned_faults.hpp"

#include <fmt/format.h>

namespace npu::cli {

tl::expected<PlannedFaults, Failure> PlannedFaults::parse(const Options& options) {
  PlannedFaults planned;
  planned.faults_.reserve(options.faults.size());
  for (const auto& text : options.faults) {
    auto fault = workloads::parse_fault(text);
    if (!fault) return bad_input("--fault: " + fault.error().context);
    planned.faults_.push_back(*fault);
  }
  return planned;
}

Status PlannedFaults::inject(workloads::FaultInjector& injector) const {
  for (const auto& each : faults_) {
    auto begun = injector.inject(each.fault, each.when);
    if (begun) continue;
    return fail(begun.error().code,
                fmt::format("--fault {}: {}", workloads::fault_text(each), begun.error().context));
  }
  return {};
}

void PlannedFaults::report(reports::Report& report,
                           const workloads::FaultInjector& injector) const {
  if (faults_.empty()) return;
  auto& table = report.add_table("faults asked for", {"fault", "effect"});
  for (const auto& each : faults_) {
    table.rows.push_back(
        {workloads::fault_text(each), workloads::class_of(each.fault.kind).effect});
  }
  if (const auto left = injector.pending(); left > 0) {
    report.add_note(fmt::format("{} of the faults had not happened when the run ended", left));
  }
}

}  // namespace npu::cli
