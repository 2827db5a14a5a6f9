// SPDX-License-Identifier: Apache-2.0
// The PMU of a core during a run: set to the run's group of events when the core is known, read
// into its PmuRecord when it has been sent away. Nothing without a group.
#pragma once

#include "firmware/aicpu/core_link.hpp"

namespace npu::firmware {

void start_pmu(const RunView& run, const Worker& worker);
// Leaves the core's window closed.
void stop_pmu(const RunView& run, const Worker& worker);

}  // namespace npu::firmware
