// SPDX-License-Identifier: Apache-2.0
// Which build of npusim this is.
#pragma once

#include <string>

namespace npu::sweep {

// SHA-256 over the program and the driver's library that it has loaded; once per process.
const std::string& program_digest();

// SHA-256 of a file's contents; "" if it cannot be read.
std::string file_digest(const std::string& path);

}  // namespace npu::sweep
