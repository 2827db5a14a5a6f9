// SPDX-License-Identifier: Apache-2.0
// What a profile adds to the report of a machine.
#pragma once

#include "model/config/system_config.hpp"
#include "tools/reports/report.hpp"
#include "tools/timeline/profile.hpp"
#include "workloads/simulator/track_capacities.hpp"

namespace npu::workloads {

// Its sections, of the run [0, report.simulated), and limits of kernels, if the report has no
// limits of its own. Once for a profile. `name`: of a track.
void add_profile(reports::Report& report, timeline::Profile& profile,
                 const timeline::Profile::TrackName& name, const TrackCapacities& capacities,
                 const model::SystemConfig& config);

}  // namespace npu::workloads
