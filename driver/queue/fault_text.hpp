// SPDX-License-Identifier: Apache-2.0
// Where a fault was, for messages: "MTE2 instruction 17, read of 0x1000, 512 bytes", "scalar unit
// behind instruction 3, read of 0x1000, 64 bytes", "MTE2 instruction 17, to: offset 0x30000 in UB,
// 4096 bytes", "cube instruction 2, rows 5000".
#pragma once

#include <string>

#include "npu/driver/queue_types.hpp"

namespace npu::driver {

// Empty: the fault has no place.
std::string place_of(const QueueFault& fault);
// Of a kernel also the block and the core: "block 2, core 5, MTE3 instruction 4, write of
// 0x1000, 64 bytes".
std::string whole_place_of(const QueueFault& fault);

}  // namespace npu::driver
