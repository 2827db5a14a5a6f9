// SPDX-License-Identifier: Apache-2.0
// The numbers by which a program knows the machine's devices: those of ASCEND_RT_VISIBLE_DEVICES,
// counted from 0 in its order, or, without the variable, the machine's own. The one place where the
// C API's numbers become the machine's; the HAL and DSMI have the machine's (docs/sources/acl.md
// L6).
#pragma once

#include <cstdint>
#include <vector>

namespace npu::compat {

// The devices that the variable's value names, of `count` there are. It ends at what is no number,
// or none of a device, or when it has as many as there are; one that is named twice: no device.
std::vector<std::uint32_t> parse_visible(const char* value, std::uint32_t count);

// How many the program sees. kNoDevice: none; what a call says that npusim does not answer.
int count_visible(std::uint32_t* count);

// The machine's number; of one that the program does not see: that of no device.
std::int64_t machine_device(std::int64_t own);
// The program's number; of one that it does not see: the machine's.
std::uint32_t own_device(std::uint64_t machine);

}  // namespace npu::compat
