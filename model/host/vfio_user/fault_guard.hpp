// SPDX-License-Identifier: Apache-2.0
// Keeps a process alive whose peer truncates a file that both have mapped.
//
// Touching a page of a shared mapping that its file does not have any more raises SIGBUS. A handler
// (installed when the first range is guarded) looks the address up in a table of guarded ranges and
// puts zero pages (private, anonymous) in place from the faulting page to the end of the range, or
// to where earlier ones begin; then the access is repeated and succeeds. One range thus never
// splits in more than two parts, whatever the peer does. Faults elsewhere go to the handler that
// was there before. The table is an array of atomics because a handler may not take locks.
#pragma once

#include <cstddef>

namespace npu::model::vfio_user {

class FaultGuard {
 public:
  // Guards [begin, begin + size) of the address space. `granule`: size of the file's pages; begin
  // and size are multiples. Check ok(): the table has room for a limited number of ranges.
  FaultGuard(std::byte* begin, std::size_t size, std::size_t granule);
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;

  bool ok() const { return slot_ >= 0; }
  bool lost() const;  // pages have been replaced: the peer and we see different memory

 private:
  int slot_ = -1;
};

}  // namespace npu::model::vfio_user
