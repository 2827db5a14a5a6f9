// SPDX-License-Identifier: Apache-2.0
// One of all processes.
#pragma once

#include <chrono>
#include <string>

#include "kernels/jit/file.hpp"
#include "npu/base/result.hpp"
#include "npu/jit/kernel_cache.hpp"

namespace npu::jit {

// flock() on a file of its own beside what it guards. The kernel gives it up when a process ends,
// however it ends; the file is removed by whoever gives the lock up, and one that a killed process
// left is as good as any.
class KeyLock {
 public:
  // Waits for `timeout` at most: kTimeout. kAborted: interrupted meanwhile. kPermissionDenied,
  // kIo: the file cannot be made. kNotFound: the folder was removed.
  static Result<KeyLock> take(const FileDescriptor& folder, const std::string& name,
                              std::chrono::milliseconds timeout,
                              const Interrupted& interrupted = {});
  ~KeyLock();
  KeyLock(KeyLock&& other) noexcept;
  KeyLock& operator=(KeyLock&&) = delete;

 private:
  KeyLock(FileDescriptor folder, std::string name, FileDescriptor file)
      : folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}

  FileDescriptor folder_;
  std::string name_;
  FileDescriptor file_;
};

}  // namespace npu::jit
