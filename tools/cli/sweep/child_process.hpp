// SPDX-License-Identifier: Apache-2.0
// npusim as a process of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "npu/base/result.hpp"

namespace npu::sweep {

// Starts this very program with `arguments`, without a shell. Standard error goes to the file
// `log`, which is made anew. `input` and `output` are descriptors for the other two; -1: nothing is
// there, and goes nowhere. The process ends when this one does, however that comes.
// kIo: no process or no file can be made.
Result<pid_t> start_npusim(const std::vector<std::string>& arguments, const std::string& log,
                           int input = -1, int output = -1);

}  // namespace npu::sweep
