// SPDX-License-Identifier: Apache-2.0
// How a card's cores are shared in time, as parameters: docs/sharing.md has the table.
#pragma once

#include <vector>

#include "npu/driver/time_slices.hpp"
#include "workloads/framework/parameter.hpp"

namespace npu::workloads {

// "policy", "window_us", and what else TimeSliceOptions has.
std::vector<ParameterSpec> sharing_parameters();
driver::TimeSliceOptions time_slice_options(const ParameterSet& parameters);

}  // namespace npu::workloads
