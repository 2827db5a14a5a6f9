// SPDX-License-Identifier: Apache-2.0
// Opened files and failed system calls.
#pragma once

#include <string>

#include "driver/vfio/kernel.hpp"
#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::driver::vfio {

// kNotFound, kPermissionDenied, kBusy, kIo.
Result<FileDescriptor> open_file(const std::string& path, int flags);
Result<FileDescriptor> open_file(Kernel& kernel, const std::string& path, int flags);

// The error of the system call that has just failed: kPermissionDenied, kOutOfMemory, kNotFound,
// kBusy or kIo, with errno's text.
tl::unexpected<Error> system_error(const std::string& what);

}  // namespace npu::driver::vfio
