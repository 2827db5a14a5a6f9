// SPDX-License-Identifier: Apache-2.0
// What a whole run did with the machine, as the report's counters (docs/reports.md).
#pragma once

#include "workloads/framework/reporting.hpp"
#include "workloads/framework/simulator_view.hpp"

namespace npu::workloads {

void add_counters(Report& report, const SimulatorView& simulator);

}  // namespace npu::workloads
