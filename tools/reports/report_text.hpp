// SPDX-License-Identifier: Apache-2.0
// The report for people.
#pragma once

#include <string>

#include "tools/reports/report.hpp"

namespace npu::reports {

// Aligned tables, one latency breakdown per row, what limited the result, notes. Plain text.
std::string to_text(const Report& report);

// Every row of the table has a number, "-" or nothing in that column.
bool is_numeric(const Table& table, std::size_t column);

// One table: title, column headings, rows; numbers right-aligned, everything else left.
std::string to_text(const Table& table);

}  // namespace npu::reports
