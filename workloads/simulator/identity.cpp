// SPDX-License-Identifier: Apache-2.0
#include "workloads/simulator/identity.hpp"

#include "model/config/load.hpp"
#include "model/config/short_keys.hpp"
#include "tools/reports/digest.hpp"
#include "workloads/framework/counters.hpp"
#include "workloads/simulator/ceilings.hpp"
#include "workloads/simulator/counted_software.hpp"

namespace npu::workloads {

reports::Report begin_report(const std::string& workload, const std::string& config_name,
                             const model::SystemConfig& config,
                             const std::vector<std::string>& overrides) {
  reports::Report report;
  report.version = NPU_VERSION;
  report.workload = workload;
  report.config = config_name;
  report.config_sha256 = reports::sha256_text(model::show_system(config));
  for (const auto& each : model::all_values(config)) {
    report.configuration.push_back({each.key, {each.value}, each.is_text});
  }
  for (const auto& given : overrides) {
    const std::string full = model::full_override(given);
    const std::string key = full.substr(0, full.find('='));
    for (const auto& each : config.replaced) {
      if (each.key == key) report.overrides.push_back({given, {key, {each.value}, each.is_text}});
    }
  }
  const bool asked = config.instructions == model::Instructions::kCounted ||
                     config.firmware.instructions == model::Instructions::kCounted;
  if (asked && counted_programs().empty()) {
    report.add_note("Instructions of driver and firmware take no time: this build counts none.");
  }
  report.add_section({"ceilings", ceilings_json(config)});
  return report;
}

void add_machine(reports::Report& report, const SimulatorView& simulator) {
  add_counters(report, simulator);
  report.simulated = simulator.simulated_time();
}

}  // namespace npu::workloads
