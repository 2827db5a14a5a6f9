// SPDX-License-Identifier: Apache-2.0
// Managed memory (managed.hpp) of a host process that accesses it through pointers: its page tables
// show the pages at the same addresses as on the cards. The owner of the process implements this
// interface, and the driver calls it. ProcessView (process_view.hpp) does so for the calling
// process.
#pragma once

#include <cstdint>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

class ManagedView {
 public:
  virtual ~ManagedView() = default;

  // The host memory of the page of 2 MiB at this address. It is zeroed at first, and the same until
  // forget().
  // kOutOfMemory: there is none.
  virtual Result<ByteSpan> memory_of(std::uint64_t page) = 0;
  // Limits the process to these rights to `count` pages from address `first` on. Returns when no
  // thread of it has more. ManagedMemory::touch() grants rights.
  virtual void limit(std::uint64_t first, std::uint64_t count, Access rights) = 0;
  // The pages were freed, and the driver no longer uses their memory.
  virtual void forget(std::uint64_t first, std::uint64_t count) = 0;
};

}  // namespace npu::driver
