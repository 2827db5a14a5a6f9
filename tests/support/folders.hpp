// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace npu {

// Where the checkout and the build folder lie, absolute and without a slash at the end. Functions
// and no macros: only one source file is another one in another checkout.
std::string source_dir();
std::string binary_dir();

// The bytes of a file; none if there is no such file.
std::string file_text(const std::string& path);

}  // namespace npu
