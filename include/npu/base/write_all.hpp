// SPDX-License-Identifier: Apache-2.0
// Writes bytes to open files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "npu/base/byte_span.hpp"
#include "npu/base/file_descriptor.hpp"

namespace npu {

// Writes all bytes. Returns 0, or the errno of the failed write.
inline int write_all(int file, ConstByteSpan bytes) {
  while (bytes.size > 0) {
    const ssize_t written = ::write(file, bytes.data, bytes.size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    const auto done = static_cast<std::size_t>(written);
    bytes = {bytes.data + done, bytes.size - done};
  }
  return 0;
}

// A file without a path that contains `bytes`, for the dynamic loader. Empty, with errno: no
// memory.
inline FileDescriptor memory_file(const char* name, ConstByteSpan bytes) {
  FileDescriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (file && write_all(file.get(), bytes) != 0) return {};
  return file;
}

}  // namespace npu
