// SPDX-License-Identifier: Apache-2.0
// Where a fault was, for messages: "read of 0x1000", "MTE2 instruction 17, to: offset 0x30000 in
// UB".
#pragma once

#include <string>

#include "npu/driver/queue_types.hpp"

namespace npu::driver {

// Empty: the fault has no place.
std::string place_of(const QueueFault& fault);

}  // namespace npu::driver
