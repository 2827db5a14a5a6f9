// SPDX-License-Identifier: Apache-2.0
#include "model/host/vfio_user/mapped_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "npu/base/checked.hpp"

namespace npu::model::vfio_user {

int MappedFile::identify(int fd, Identity& identity) {
  struct stat info {};
  struct statfs file_system {};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fstat(fd, &info) != 0 || ::fstatfs(fd, &file_system) != 0) return EINVAL;
  if (!S_ISREG(info.st_mode) || info.st_size < 0) return EINVAL;
  const int access = flags & O_ACCMODE;
  if (access == O_WRONLY || (flags & O_PATH) != 0) return EACCES;
  const int seals = ::fcntl(fd, F_GET_SEALS);  // fails where there are no seals
  const bool sealed = seals >= 0 && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) != 0;
  identity.device = info.st_dev;
  identity.inode = info.st_ino;
  identity.writable = access == O_RDWR && !sealed;
  identity.page_size = file_system.f_type == HUGETLBFS_MAGIC
                           ? static_cast<Bytes>(file_system.f_bsize)
                           : static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
  // A last page that is not full is there as a whole when mapped, but its rest is not the file's.
  identity.size = align_down(static_cast<Bytes>(info.st_size), identity.page_size);
  return 0;
}

int MappedFile::map(int fd, const Identity& identity, std::shared_ptr<MappedFile>& file) {
  if (identity.size == 0) return EINVAL;
  if (identity.size > kMaxSize) return ENOMEM;
  const int rights = identity.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = ::mmap(nullptr, identity.size, rights, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (data == MAP_FAILED) return errno;
  std::shared_ptr<MappedFile> mapped(new MappedFile(identity, static_cast<std::byte*>(data)));
  if (!mapped->guard_.ok()) return ENOMEM;
  file = std::move(mapped);
  return 0;
}

MappedFile::MappedFile(const Identity& identity, std::byte* data)
    : identity_(identity), data_(data), guard_(data, identity.size, identity.page_size) {}

MappedFile::~MappedFile() {
  ::munmap(data_, identity_.size);
}

bool MappedFile::covers(const Identity& identity, Bytes end) const {
  return identity.device == identity_.device && identity.inode == identity_.inode &&
         identity.writable == identity_.writable && end <= identity_.size;
}

}  // namespace npu::model::vfio_user
