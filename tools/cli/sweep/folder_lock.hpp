// SPDX-License-Identifier: Apache-2.0
// A folder that one process at a time, or several that share it, may work in. The kernel holds the
// lock for as long as the process lives: however it ends, none is left.
#pragma once

#include <string>

#include "npu/base/file_descriptor.hpp"
#include "npu/base/result.hpp"

namespace npu::sweep {

class FolderLock {
 public:
  enum class Kind { kAlone, kShared };

  // kBusy: another process has it; kIo, kInvalidArgument as code_of_errno().
  static Result<FolderLock> take(const std::string& folder, Kind kind);

 private:
  explicit FolderLock(int file) : file_(file) {}
  FileDescriptor file_;
};

}  // namespace npu::sweep
