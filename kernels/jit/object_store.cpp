// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/object_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "kernels/jit/cache_folder.hpp"
#include "kernels/jit/stored_files.hpp"
#include "npu/base/shortened.hpp"
#include "npu/base/write_all.hpp"

namespace npu::jit {
namespace {

using std::chrono::milliseconds;

constexpr Bytes kLargestSealed = 257_MiB;
constexpr const char* kSweepLock = "sweep.lock";
constexpr int kOpenings = 8;

Result<FileDescriptor> open_toolchain(const std::string& folder, const ObjectName& name,
                                      bool make) {
  const auto base = open_folder(folder, make);
  if (!base) return forward_error(base);
  return open_folder_in(*base, name.toolchain, make);
}

// The name comes last: whoever finds it finds all bytes, also behind a power failure.
Status publish(const FileDescriptor& folder, const std::string& part, const std::string& final_name,
               ConstByteSpan bytes) {
  unlinkat(folder.get(), part.c_str(), 0);  // of a process that was killed; the lock is ours
  const FileDescriptor file(openat(folder.get(), part.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fail_errno(part);
  if (write_all(file.get(), bytes) != 0) return fail_errno(part);
  if (fsync(file.get()) != 0) return fail_errno(part);
  if (renameat(folder.get(), part.c_str(), folder.get(), final_name.c_str()) != 0) {
    return fail_errno(final_name);
  }
  if (fsync(folder.get()) != 0) return fail_errno(final_name);
  return {};
}

// Folders of toolchains but this one; one in which there is anything stays.
void remove_empty(const FileDescriptor& base, const std::string& but) {
  for (const auto& toolchain : list_toolchains(base)) {
    if (toolchain != but) unlinkat(base.get(), toolchain.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace

Result<std::vector<std::byte>> ObjectStore::load(const ObjectName& name) const {
  const auto folder = open_toolchain(folder_, name, false);
  if (!folder) return fail(ErrorCode::kNotFound, folder.error().message());
  const std::string file_name = name.key + kObjectEnd;
  const auto file = open_file_in(*folder, file_name);
  if (!file) return forward_error(file);
  auto sealed = read_all(file->get(), kLargestSealed, file_name);
  if (!sealed) return forward_error(sealed);
  auto object = unseal(name, std::move(*sealed));
  if (!object) return fail(ErrorCode::kWrongData, file_name + ": " + object.error().context);
  mark_used(*folder, file_name);
  return object;
}

Result<KeyLock> ObjectStore::lock(const ObjectName& name, milliseconds timeout,
                                  const Interrupted& interrupted) const {
  for (int attempt = 1;; ++attempt) {
    const auto folder = open_toolchain(folder_, name, true);
    if (!folder) return forward_error(folder);
    auto lock = KeyLock::take(*folder, name.key + kLockEnd, timeout, interrupted);
    // An empty folder may be removed between its opening and the lock's file in it.
    if (lock || lock.error().code != ErrorCode::kNotFound || attempt == kOpenings) return lock;
  }
}

Status ObjectStore::store(const ObjectName& name, ConstByteSpan object) const {
  const auto folder = open_toolchain(folder_, name, true);
  if (!folder) return forward_error(folder);
  const std::string part = name.key + kPartEnd;
  const auto sealed = seal(name, object);
  auto stored = publish(*folder, part, name.key + kObjectEnd, {sealed.data(), sealed.size()});
  if (!stored) unlinkat(folder->get(), part.c_str(), 0);
  return stored;
}

std::uint64_t ObjectStore::evict(const ObjectName& name) const {
  const auto base = open_folder(folder_, false);
  if (!base) return 0;
  // Two that remove at the same time would remove twice as much.
  const auto sweep = KeyLock::take(*base, kSweepLock, milliseconds(0));
  if (!sweep) return 0;
  auto files = list_stored(*base);
  Bytes total = 0;
  for (const auto& file : files) total += file.size;
  std::sort(files.begin(), files.end(), used_before);
  std::uint64_t removed = 0;
  for (const auto& file : files) {
    if (total <= limit_) break;
    if (file.end == kLockEnd) continue;
    if (file.name.key == name.key && file.name.toolchain == name.toolchain) continue;
    if (!remove_unless_made(*base, file)) continue;
    total -= file.size;
    ++removed;
  }
  remove_empty(*base, name.toolchain);
  return removed;
}

Status ObjectStore::clear() const {
  const auto base = open_folder(folder_, false);
  if (!base && base.error().code == ErrorCode::kNotFound) return {};
  if (!base) return forward_error(base);
  for (const auto& file : list_stored(*base)) {
    if (file.end != kObjectEnd) {
      remove_unless_made(*base, file);
      continue;
    }
    const auto removed = remove(*base, file);
    if (!removed) return removed;
  }
  remove_empty(*base, "");
  return {};
}

}  // namespace npu::jit
