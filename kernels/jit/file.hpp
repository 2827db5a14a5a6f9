// SPDX-License-Identifier: Apache-2.0
// Whole files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

// "what: text of errno"; kNotFound, kPermissionDenied or kIo.
tl::unexpected<Error> fail_errno(const std::string& what);

// From the file's beginning to its end. kIo: reading failed, or it has more than `most` bytes.
Result<std::vector<std::byte>> read_all(int descriptor, std::size_t most, const std::string& name);
Result<std::vector<std::byte>> read_file(const std::string& path, std::size_t most);

}  // namespace npu::jit
