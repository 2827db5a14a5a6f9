// SPDX-License-Identifier: Apache-2.0
// A buffer as functions of the HAL name it.
#pragma once

#include "apps/compat/hal/zones.hpp"

namespace npu::compat {

// `align` 0: 64. A drvError_t.
int allocate_buffer(std::uint64_t size, unsigned align, unsigned long flag, bool any_device,
                    void** buffer);

}  // namespace npu::compat
