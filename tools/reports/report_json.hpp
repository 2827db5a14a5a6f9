// SPDX-License-Identifier: Apache-2.0
// The report for machines, schema "npusim.report/3". Equal reports give equal bytes.
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report.hpp"

namespace npu::reports {

inline constexpr const char* kReportSchema = "npusim.report/3";

// All that a report holds, as docs/reports.md lists it; ends with a newline. read_report() gives
// the report back, and to_json() of that the same bytes. What is a number is one: sizes in bytes,
// keys in their own unit, times in ns with three decimals; flags are true or false, lists are
// arrays.
std::string to_json(const Report& report);

// Its members "name": value, with a comma and `separator` between them.
std::string json_members(const std::vector<NamedValue>& values, const std::string& separator);

}  // namespace npu::reports
