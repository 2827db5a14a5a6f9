// SPDX-License-Identifier: Apache-2.0
// A file of the client in our address space, as a whole: a client with an IOMMU maps its memory
// page by page, and one mapping of the file serves all of those.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "model/host/vfio_user/fault_guard.hpp"
#include "npu/base/units.hpp"

namespace npu::model::vfio_user {

class MappedFile {
 public:
  // Regular files (also memfd and hugetlbfs) up to this size.
  static constexpr Bytes kMaxSize = Bytes{1} << 40;

  // What tells whether a descriptor is of a file that is mapped already.
  struct Identity {
    dev_t device;
    ino_t inode;
    bool writable;  // the descriptor is open for writing, and the file is not sealed against it
    Bytes size;     // when looked at; a multiple of the page size
    Bytes page_size;
  };
  // 0 or errno: EINVAL for anything but a regular file, EACCES if not open for reading.
  static int identify(int fd, Identity& identity);

  // 0 or errno: ENOMEM if there is no room, EINVAL if the file is empty.
  static int map(int fd, const Identity& identity, std::shared_ptr<MappedFile>& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // True if [0, end) of the file `identity` is mapped here.
  bool covers(const Identity& identity, Bytes end) const;
  bool writable() const { return identity_.writable; }
  bool lost() const { return guard_.lost(); }
  std::byte* at(Bytes offset) const { return data_ + offset; }

 private:
  MappedFile(const Identity& identity, std::byte* data);

  Identity identity_;
  std::byte* data_;
  FaultGuard guard_;
};

}  // namespace npu::model::vfio_user
