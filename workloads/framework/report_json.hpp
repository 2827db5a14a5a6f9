// SPDX-License-Identifier: Apache-2.0
// The report for machines, schema "npusim.report/1". Equal reports give equal bytes.
#pragma once

#include <string>

#include "workloads/framework/report.hpp"

namespace npu::workloads {

inline constexpr const char* kReportSchema = "npusim.report/1";

// {"schema", "workload", "config", "seed", "simulated_ps", "parameters": {...},
//  "metrics": [{"name", "value", "unit"}...], "limits": [{"subject", "name", "percent",
//  "text"}...], "notes": [...]}, ends with a newline. Times in ns carry three decimals.
std::string to_json(const Report& report);

}  // namespace npu::workloads
