// SPDX-License-Identifier: Apache-2.0
// Owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace npu {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int file) : file_(file) {}
  FileDescriptor(FileDescriptor&& other) noexcept : file_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      file_ = other.release();
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  int get() const { return file_; }
  explicit operator bool() const { return file_ >= 0; }
  int release() { return std::exchange(file_, -1); }
  void reset() {
    if (file_ >= 0) ::close(release());
  }

 private:
  int file_ = -1;
};

}  // namespace npu
