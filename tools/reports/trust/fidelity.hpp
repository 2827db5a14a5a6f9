// SPDX-License-Identifier: Apache-2.0
// What a report says of runs whose DRAM is computed in closed form (hbm.fidelity: run).
#pragma once

#include <string>
#include <vector>

#include "tools/reports/report.hpp"
#include "tools/reports/trust/known_errors.hpp"

namespace npu::reports {

// One line with the known error of the workload, the largest on any card; empty: all HBM of the
// machine is exact, or the report does not tell its configuration.
std::string fidelity_line(const Report& report);
// The same with another table of errors.
std::string fidelity_line(const Report& report, const std::vector<FidelityError>& errors);

}  // namespace npu::reports
