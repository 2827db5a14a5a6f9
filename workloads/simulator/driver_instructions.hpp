// SPDX-License-Identifier: Apache-2.0
// Joins the driver that counts its instructions (counting/) with the machine it runs on.
#pragma once

#include "model/system.hpp"

namespace npu::workloads {

// The machine follows the driver's counter. Without a driver that counts, nothing is known of it.
void follow_driver(model::System& system);

}  // namespace npu::workloads
