// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/key_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "npu/base/shortened.hpp"

namespace npu::jit {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// False if the file that is locked is no longer the one of that name: its owner removed it between
// our opening and locking it.
bool is_current(const FileDescriptor& folder, const std::string& name, const FileDescriptor& file) {
  struct stat held {};
  struct stat named {};
  return fstat(file.get(), &held) == 0 &&
         fstatat(folder.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Result<KeyLock> KeyLock::take(const FileDescriptor& folder, const std::string& name,
                              milliseconds timeout, const Interrupted& interrupted) {
  const auto end = Clock::now() + timeout;
  milliseconds pause(1);
  for (;;) {
    FileDescriptor file(openat(folder.get(), name.c_str(),
                               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!file) return fail_errno(shortened(name, kShownPath));
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!is_current(folder, name, file)) continue;
      FileDescriptor own(fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
      if (!own) return fail_errno("a second descriptor");
      return KeyLock(std::move(own), name, std::move(file));
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno(shortened(name, kShownPath));
    if (Clock::now() >= end) {
      return fail(ErrorCode::kTimeout, shortened(name, kShownPath) +
                                           " is held by another process for longer than " +
                                           std::to_string(timeout.count()) + " ms");
    }
    if (interrupted && interrupted()) return fail(ErrorCode::kAborted, "interrupted");
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, milliseconds(20));
  }
}

KeyLock::KeyLock(KeyLock&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      file_(std::move(other.file_)) {}

KeyLock::~KeyLock() {
  // Before the lock goes: who opened the file meanwhile sees that it is no longer the one.
  if (file_) unlinkat(folder_.get(), name_.c_str(), 0);
}

}  // namespace npu::jit
