// SPDX-License-Identifier: Apache-2.0
#include "kernels/jit/cache_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "npu/base/shortened.hpp"

namespace npu::jit {
namespace {

constexpr mode_t kOwnerOnly = 0700;

// Those above a folder that are missing. Errors show when the folder itself is opened.
void make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), kOwnerOnly);
  }
  mkdir(path.c_str(), kOwnerOnly);
}

Result<FileDescriptor> checked(FileDescriptor file, const std::string& name) {
  if (!file) return fail_errno(shortened(name, kShownPath));
  struct stat about {};
  if (fstat(file.get(), &about) != 0) return fail_errno(shortened(name, kShownPath));
  const auto good = check_owner(about, name);
  if (!good) return forward_error(good);
  return file;
}

}  // namespace

Status check_owner(const struct stat& about, const std::string& name) {
  if (about.st_uid != geteuid() && about.st_uid != 0) {
    return fail(ErrorCode::kPermissionDenied,
                shortened(name, kShownPath) + " belongs to another user");
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::kPermissionDenied,
                shortened(name, kShownPath) + " can be written by others");
  }
  return {};
}

Result<FileDescriptor> open_folder(const std::string& path, bool make) {
  if (make) make_folders(path);
  return checked(FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), path);
}

Result<FileDescriptor> open_folder_in(const FileDescriptor& parent, const std::string& name,
                                      bool make) {
  if (make) mkdirat(parent.get(), name.c_str(), kOwnerOnly);
  return checked(FileDescriptor(openat(parent.get(), name.c_str(),
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)),
                 name);
}

Result<FileDescriptor> open_file_in(const FileDescriptor& parent, const std::string& name) {
  FileDescriptor file(
      openat(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ELOOP) {
    return fail(ErrorCode::kPermissionDenied, shortened(name, kShownPath) + " is a link");
  }
  auto good = checked(std::move(file), name);
  if (!good) return good;
  struct stat about {};
  if (fstat(good->get(), &about) != 0 || !S_ISREG(about.st_mode)) {
    return fail(ErrorCode::kPermissionDenied, shortened(name, kShownPath) + " is no file");
  }
  return good;
}

}  // namespace npu::jit
