// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/scratch.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "npu/base/units.hpp"

namespace npu::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "npujit-";
constexpr Bytes kRoom = 64_MiB;  // for a compiler's output and its files on the way

std::vector<std::string> places() {
  const char* chosen = std::getenv("TMPDIR");
  const bool usable = chosen != nullptr && chosen[0] == '/';
  return {usable ? chosen : "/tmp", "/dev/shm"};
}

bool has_room(const std::string& folder) {
  struct statvfs about {};
  if (statvfs(folder.c_str(), &about) != 0) return false;
  return about.f_bavail * about.f_frsize >= kRoom && access(folder.c_str(), W_OK) == 0;
}

FileDescriptor lock_folder(const std::string& path) {
  FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder && flock(folder.get(), LOCK_EX | LOCK_NB) != 0) folder.reset();
  return folder;
}

bool is_own(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid();
}

void sweep(const std::string& place) {
  std::error_code ignored;
  std::vector<std::string> left;
  for (fs::directory_iterator at(place, ignored), end; at != end; at.increment(ignored)) {
    const std::string path = at->path().string();
    if (at->path().filename().string().rfind(kPrefix, 0) == 0 && is_own(path)) {
      left.push_back(path);
    }
  }
  for (const auto& path : left) {
    // Held until it is gone: whoever has just made it tries for the lock, too.
    if (const FileDescriptor lock = lock_folder(path)) fs::remove_all(path, ignored);
  }
}

}  // namespace

Result<Scratch> Scratch::make() {
  const auto candidates = places();
  const auto& place =
      has_room(candidates[0]) || !has_room(candidates[1]) ? candidates[0] : candidates[1];
  sweep(place);
  // Between mkdtemp() and flock() somebody else's sweep may take the folder for a left one.
  for (int attempt = 0; attempt < 16; ++attempt) {
    std::string path = place + "/" + kPrefix + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return fail_errno("a folder for the compiler in " + place);
    FileDescriptor lock = lock_folder(path);
    if (lock && is_own(path)) return Scratch(std::move(path), std::move(lock));
  }
  return fail(ErrorCode::kIo, "no folder for the compiler in " + place + " stays");
}

Scratch::Scratch(Scratch&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace npu::jit
