// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/jit/sha256.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

// Names and contents of the folder's files (.hpp, .h, .cpp, .inc), of its folders too, in the order
// of their names. kNotFound: no such folder; kIo, kPermissionDenied: something cannot be read.
Status add_source_files(const std::string& folder, Sha256& sha);

}  // namespace npu::jit
