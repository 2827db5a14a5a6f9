// SPDX-License-Identifier: Apache-2.0
// How a process of the host sees its managed memory (managed.hpp): through its page tables, at the
// same addresses as the cards. Who has the process gives the driver its memory and takes rights
// away when the driver says so; the process gets them with ManagedMemory::touch().
#pragma once

#include <cstdint>

#include "npu/base/byte_span.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

class ManagedView {
 public:
  virtual ~ManagedView() = default;

  // The memory behind the page of 2 MiB at this address, the same as long as the page is not
  // forgotten. It is zeroed at first. kOutOfMemory.
  virtual Result<ByteSpan> memory_of(std::uint64_t page) = 0;
  // The process has no more than these rights to `count` pages from `first` on. Returns when none
  // of its threads has more.
  virtual void limit(std::uint64_t first, std::uint64_t count, Access rights) = 0;
  // The pages were freed. Their memory is not used any more.
  virtual void forget(std::uint64_t first, std::uint64_t count) = 0;
};

}  // namespace npu::driver
