// SPDX-License-Identifier: Apache-2.0
// A folder that one process at a time, or several that share it, may work in. The kernel holds the
// lock for as long as the process lives: however it ends, none is left.
#pragma once

#include <string>

#include "npu/base/result.hpp"

namespace npu::sweep {

class FolderLock {
 public:
  enum class Kind { kAlone, kShared };

  // kBusy: another process has it; kIo, kInvalidArgument as code_of_errno().
  static Result<FolderLock> take(const std::string& folder, Kind kind);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace npu::sweep
