// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace npu::compat {

// A stream has been waited for: pools give back what is free beyond their thresholds.
void trim_pools();
// If all of the device's memory was given back.
void forget_pools(std::int32_t device);

}  // namespace npu::compat
