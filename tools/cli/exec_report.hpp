// SPDX-License-Identifier: Apache-2.0
// What programs under `npusim exec` did, for its report.
#pragma once

#include <vector>

#include "apps/exec/server.hpp"
#include "tools/reports/report.hpp"

namespace npu::cli {

// Metrics exec.<program>.* and exec.<program>.<function>.*, and a table of the functions. `works`:
// what programs do between their calls takes time.
void add_programs(reports::Report& report, const std::vector<exec::ProgramResult>& programs,
                  bool works);

}  // namespace npu::cli
