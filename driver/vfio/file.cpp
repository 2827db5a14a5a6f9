// SPDX-License-Identifier: Apache-2.0
#include "driver/vfio/file.hpp"

#include <cerrno>
#include <system_error>

namespace npu::driver::vfio {

Result<FileDescriptor> open_file(const std::string& path, int flags) {
  return open_file(Kernel::real(), path, flags);
}

Result<FileDescriptor> open_file(Kernel& kernel, const std::string& path, int flags) {
  const int descriptor = kernel.open(path, flags);
  if (descriptor < 0) return system_error("open " + path);
  return FileDescriptor(descriptor);
}

tl::unexpected<Error> system_error(const std::string& what) {
  const int number = errno;
  ErrorCode code = ErrorCode::kIo;
  if (number == EACCES || number == EPERM) code = ErrorCode::kPermissionDenied;
  if (number == ENOENT || number == ENODEV || number == ENXIO) code = ErrorCode::kNotFound;
  if (number == ENOMEM) code = ErrorCode::kOutOfMemory;
  if (number == EBUSY) code = ErrorCode::kBusy;
  return fail(code, what + ": " + std::generic_category().message(number));
}

}  // namespace npu::driver::vfio
