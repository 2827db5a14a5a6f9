// SPDX-License-Identifier: Apache-2.0
// File descriptors and failed system calls.
#pragma once

#include <string>
#include <utility>

#include "driver/vfio/kernel.hpp"
#include "npu/base/result.hpp"

namespace npu::driver::vfio {

class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() { close(); }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

  // kNotFound, kPermissionDenied, kBusy, kIo.
  static Result<File> open(const std::string& path, int flags);
  static Result<File> open(Kernel& kernel, const std::string& path, int flags);

 private:
  void close();
  int descriptor_ = -1;
};

// The error of the system call that has just failed: kPermissionDenied, kOutOfMemory, kNotFound,
// kBusy or kIo, with errno's text.
tl::unexpected<Error> system_error(const std::string& what);

}  // namespace npu::driver::vfio
