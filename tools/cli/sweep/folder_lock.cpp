// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/sweep/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "npu/base/errno_text.hpp"
#include "npu/base/shortened.hpp"

namespace npu::sweep {

Result<FolderLock> FolderLock::take(const std::string& folder, Kind kind) {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return fail(code, shortened(folder, kShownPath) + ": " + why);
  };
  FolderLock lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.file_) return refuse(code_of_errno(errno), errno_text(errno));
  const int mode = kind == Kind::kAlone ? LOCK_EX : LOCK_SH;
  if (::flock(lock.file_.get(), mode | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return refuse(ErrorCode::kBusy, "another npusim is at work there");
  return refuse(ErrorCode::kIo, "cannot be locked: " + errno_text(errno));
}

}  // namespace npu::sweep
