// SPDX-License-Identifier: Apache-2.0
// Reads the report for machines back. Strict: what comes through is a report that to_json() could
// have written, and it writes the same bytes again.
#pragma once

#include <string>

#include "npu/base/result.hpp"
#include "tools/reports/report.hpp"

namespace npu::reports {

// Sections that this library does not know are kept as they are. kInvalidArgument: no JSON,
// another schema, a member that is missing or too much, or is not what it must be; says where.
Result<Report> read_report(const std::string& json);

// The same of a file; errors begin with its name. kIo: it cannot be read.
Result<Report> load_report(const std::string& path);

}  // namespace npu::reports
