// SPDX-License-Identifier: Apache-2.0
// A folder for one compilation.
#pragma once

#include <string>

#include "kernels/jit/file.hpp"
#include "npu/base/result.hpp"

namespace npu::jit {

// In $TMPDIR or /tmp, or in /dev/shm if those have no room; readable by its owner alone. The lock
// that it holds on it tells it from what a killed process left behind; making one removes those.
class Scratch {
 public:
  static Result<Scratch> make();
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;

  const std::string& path() const { return path_; }

 private:
  Scratch(std::string path, FileDescriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  FileDescriptor lock_;
};

}  // namespace npu::jit
