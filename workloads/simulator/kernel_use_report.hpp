// SPDX-License-Identifier: Apache-2.0
// What kernels used, in a report: metrics, a table, the section "kernel_use" (docs/reports.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/config/system_config.hpp"
#include "tools/reports/report.hpp"
#include "tools/timeline/kernel_use.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {

// What the events do not tell.
struct KernelWork {
  std::optional<std::uint64_t> operations;  // multiplications and additions that were asked for
  std::optional<std::uint64_t> activates;   // rows that the device memory opened meanwhile
  Bytes memory_bytes = 0;                   // that it moved meanwhile, of all requests
};

// Nothing of no kernels, nor in a report that has the section.
void add_kernel_use(reports::Report& report, const std::string& subject,
                    const timeline::KernelUse& use, const model::SystemConfig& config,
                    const TrackCapacities& capacities, const KernelWork& work = {});

bool has_kernel_use(const reports::Report& report);

}  // namespace npu::workloads
