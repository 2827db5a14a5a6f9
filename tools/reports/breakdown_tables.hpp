// SPDX-License-Identifier: Apache-2.0
// What people are shown of a report as tables.
#pragma once

#include <vector>

#include "tools/reports/report.hpp"

namespace npu::reports {

// Breakdowns of one group and with the same parts share a table, a row each; times in ns.
std::vector<Table> breakdown_tables(const Report& report);

// "name", "value", "unit"
Table metric_table(const std::string& title, const std::vector<Metric>& metrics);

}  // namespace npu::reports
