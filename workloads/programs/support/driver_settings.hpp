// SPDX-License-Identifier: Apache-2.0
// The keys of driver in a configuration, as the driver has them.
#pragma once

#include "model/config/system_config.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/managed.hpp"
#include "workloads/framework/context.hpp"

namespace npu::workloads {

driver::DeviceFeatures features_of(const model::DriverFeatureConfig& keys);
// Of the context's machine, if it says: the threshold and time of the warning of page faults that
// nobody could serve, which becomes a note of the report.
void set_fault_warning(driver::ManagedOptions& options, Context& context);

}  // namespace npu::workloads
