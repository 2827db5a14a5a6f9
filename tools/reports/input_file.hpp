// SPDX-License-Identifier: Apache-2.0
// A file that a command line names for a command to read.
#pragma once

#include <string>

#include "npu/base/result.hpp"

namespace npu::reports {

// All of it; "-" is standard input. kInvalidArgument, beginning with the file's name: there is
// none, it cannot be read, or it has more than 64 MiB.
Result<std::string> read_file(const std::string& path);

}  // namespace npu::reports
