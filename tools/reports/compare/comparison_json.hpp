// SPDX-License-Identifier: Apache-2.0
// What is different, for machines.
#pragma once

#include <string>

#include "tools/reports/compare/comparison.hpp"

namespace npu::reports {

// Schema "npusim.comparison/1":
// {"schema", "workload", "base_config", "new_config", "result": "identical" | "no regression" |
//  "regression", "compared", "failed": string or null,
//  "changes": [{"name", "kind", "unit", "base", "new", "change", "percent": number or null,
//               "worse": "up" | "down" | "never", "allowed", "verdict", "why"}...],
//  "missing": [{"name", "kind", "regression"}...], "added": [...], "differs": [...]}
std::string to_json(const Comparison& comparison);

}  // namespace npu::reports
