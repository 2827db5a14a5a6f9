// SPDX-License-Identifier: Apache-2.0
// Commands of npusim's own in gdb: `monitor COMMAND`.
#pragma once

#include <string>

namespace npu::gdb {

struct Target;

// What it prints; of a command that there is not, one line that says so.
std::string monitor(const std::string& command, Target& target);

}  // namespace npu::gdb
