// SPDX-License-Identifier: Apache-2.0
// What a report says of the machine it is of, so that it can be told from others and made again.
#pragma once

#include <string>
#include <vector>

#include "model/config/system_config.hpp"
#include "tools/reports/report.hpp"
#include "workloads/framework/simulator_view.hpp"

namespace npu::workloads {

// A report with all but what the run itself finds. `overrides`: keys of the configuration, in full
// or by their last part, as they were given ("generation=5").
reports::Report begin_report(const std::string& workload, const std::string& config_name,
                             const model::SystemConfig& config,
                             const std::vector<std::string>& overrides);

// What the machine has done so far: counters and simulated time.
void add_machine(reports::Report& report, const SimulatorView& simulator);

}  // namespace npu::workloads
