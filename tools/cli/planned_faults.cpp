// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/planned_faults.hpp"

#include <fmt/format.h>

#include "workloads/simulator/fault_checks.hpp"

namespace npu::cli {

tl::expected<PlannedFaults, Failure> PlannedFaults::parse(const Options& options,
                                                          const model::SystemConfig& config) {
  PlannedFaults planned;
  auto given = workloads::parse_faults(options.faults);
  if (!given) return bad_input("--fault: " + given.error().context);
  auto configured = workloads::configured_faults(config);
  if (!configured) return bad_input(configured.error().context);
  planned.given_ = std::move(*given);
  planned.configured_ = std::move(*configured);
  for (const auto& each : planned.given_) {
    const auto fits = workloads::check_fault(config, each.fault);
    if (fits) continue;
    return bad_input(
        fmt::format("--fault {}: {}", workloads::fault_text(each), fits.error().context));
  }
  return planned;
}

Status PlannedFaults::inject(workloads::FaultInjector& injector) const {
  for (const auto& each : given_) {
    auto begun = injector.inject(each.fault, each.when);
    if (begun) continue;
    return fail(begun.error().code,
                fmt::format("--fault {}: {}", workloads::fault_text(each), begun.error().context));
  }
  return {};
}

void PlannedFaults::report(reports::Report& report,
                           const workloads::FaultInjector& injector) const {
  if (given_.empty() && configured_.empty()) return;
  auto& table = report.add_table("faults asked for", {"fault", "effect"});
  for (const auto* const list : {&configured_, &given_}) {
    for (const auto& each : *list) {
      table.rows.push_back(
          {workloads::fault_text(each), std::string(workloads::class_of(each.fault.kind).effect)});
    }
  }
  if (const auto left = injector.pending(); left > 0) {
    report.add_note(fmt::format("{} of the faults had not happened when the run ended", left));
  }
}

}  // namespace npu::cli
