// SPDX-License-Identifier: Apache-2.0
// The report for a pull request or a wiki.
#pragma once

#include <string>

#include "tools/reports/report.hpp"

namespace npu::reports {

// What to_text() shows, and besides it what the report is of, all metrics and counters.
std::string to_markdown(const Report& report);

}  // namespace npu::reports
