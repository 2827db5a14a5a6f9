// SPDX-License-Identifier: Apache-2.0
// MODULE_TYPE_COMPUTING of halGetDeviceInfo().
#pragma once

#include <ascend_hal.h>

#include <cstdint>

namespace npu::compat {

drvError_t get_computing(std::uint32_t device, std::int32_t info, std::int64_t* value);

}  // namespace npu::compat
