// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/jit/kernel.hpp"

namespace npu::jit {

// Loads an object from these bytes, not from any file that could be another one by now.
// kIo: it cannot be loaded or has no entry run(); no memory for it.
Result<std::shared_ptr<const Kernel>> load_kernel(const std::string& key, const std::string& source,
                                                  std::vector<std::byte> image);

}  // namespace npu::jit
