// SPDX-License-Identifier: Apache-2.0
// The report for machines, schema "npusim.report/2". Equal reports give equal bytes.
#pragma once

#include <string>

#include "reports/report.hpp"

namespace npu::reports {

inline constexpr const char* kReportSchema = "npusim.report/2";

// {"schema", "npusim": version, "workload", "config", "config_sha256",
//  "overrides": [{"given", "key", "value"}...], "seed", "simulated_ps", "parameters": {...},
//  "programs": [{"name", "sha256"}...], "metrics": [{"name", "value", "unit"}...],
//  "limits": [{"subject", "name", "percent", "text"}...], "notes": [...]}, ends with a newline.
// What is a number is one: sizes in bytes, keys in their own unit, times in ns with three decimals;
// flags are true or false, lists are arrays.
std::string to_json(const Report& report);

}  // namespace npu::reports
