// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/stored_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <memory>
#include <string_view>
#include <tuple>

#include "kernels/jit/cache_folder.hpp"
#include "kernels/jit/key_lock.hpp"
#include "kernels/jit/sha256.hpp"

namespace npu::jit {
namespace {

constexpr std::size_t kDigits = 2 * Digest().size();

std::vector<std::string> list_names(const FileDescriptor& folder) {
  FileDescriptor own(openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(own ? fdopendir(own.get()) : nullptr, closedir);
  if (stream == nullptr) return {};
  own.release();
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream.get())) names.emplace_back(entry->d_name);
  return names;
}

bool is_our_end(std::string_view end) {
  return end == kObjectEnd || end == kPartEnd || end == kLockEnd;
}

}  // namespace

std::vector<std::string> list_toolchains(const FileDescriptor& base) {
  std::vector<std::string> found;
  for (auto& name : list_names(base)) {
    if (is_hex_digest(name)) found.push_back(std::move(name));
  }
  return found;
}

std::vector<StoredFile> list_stored(const FileDescriptor& base) {
  std::vector<StoredFile> files;
  for (const auto& toolchain : list_toolchains(base)) {
    const auto folder = open_folder_in(base, toolchain, false);
    if (!folder) continue;
    for (const auto& name : list_names(*folder)) {
      struct stat about {};
      const std::string key = name.substr(0, kDigits);
      if (!is_hex_digest(key) || !is_our_end(name.substr(kDigits)) ||
          fstatat(folder->get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) {
        continue;
      }
      files.push_back({{toolchain, key},
                       name.substr(kDigits),
                       static_cast<Bytes>(about.st_size),
                       about.st_mtim.tv_sec,
                       about.st_mtim.tv_nsec});
    }
  }
  return files;
}

bool used_before(const StoredFile& a, const StoredFile& b) {
  return std::tie(a.used_s, a.used_ns, a.name.toolchain, a.name.key, a.end) <
         std::tie(b.used_s, b.used_ns, b.name.toolchain, b.name.key, b.end);
}

void mark_used(const FileDescriptor& folder, const std::string& file_name) {
  // The clock of file systems stands still for milliseconds; this one tells two uses apart.
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[] = {now, now};
  utimensat(folder.get(), file_name.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

Status remove(const FileDescriptor& base, const StoredFile& file) {
  const auto folder = open_folder_in(base, file.name.toolchain, false);
  if (!folder) return forward_error(folder);
  const std::string name = file.name.key + file.end;
  if (unlinkat(folder->get(), name.c_str(), 0) != 0 && errno != ENOENT) return fail_errno(name);
  return {};
}

bool remove_unless_made(const FileDescriptor& base, const StoredFile& file) {
  const auto folder = open_folder_in(base, file.name.toolchain, false);
  if (!folder) return false;
  const auto lock = KeyLock::take(*folder, file.name.key + kLockEnd, std::chrono::milliseconds(0));
  if (!lock) return false;
  // Of a lock file: whoever holds it removes it.
  return file.end == kLockEnd || remove(base, file).has_value();
}

}  // namespace npu::jit
