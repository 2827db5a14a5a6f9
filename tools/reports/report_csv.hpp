// SPDX-License-Identifier: Apache-2.0
// The report for spreadsheets and scripts (RFC 4180).
#pragma once

#include <string>

#include "tools/reports/report.hpp"

namespace npu::reports {

// A header and a row per metric and counter, lines ended by CR LF. The columns are always
// workload,config,seed,kind,name,value,unit; kind is metric or counter.
std::string to_csv(const Report& report);

// A field as it stands in a row: in quotes if it needs them.
std::string csv_field(const std::string& text);

}  // namespace npu::reports
