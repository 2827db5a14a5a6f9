// SPDX-License-Identifier: Apache-2.0
// What bounded kernels on a critical path, as limits of a report.
#pragma once

#include <string>

#include "tools/reports/report.hpp"
#include "tools/timeline/kernel_limits.hpp"

namespace npu::workloads {

// Percent of the time of `kernels`; they add up to 100 up to rounding. None of no time.
void add_kernel_limits(reports::Report& report, const std::string& subject,
                       const timeline::KernelTime& kernels);

}  // namespace npu::workloads
