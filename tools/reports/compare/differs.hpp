// SPDX-License-Identifier: Apache-2.0
// What two reports are of, where it is not the same.
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report.hpp"

namespace npu::reports {

// A line each: version, outcome, seed, parameters, keys of the configuration, programs, simulated
// time, limits, tables, notes, other sections.
std::vector<std::string> what_differs(const Report& base, const Report& now);

}  // namespace npu::reports
