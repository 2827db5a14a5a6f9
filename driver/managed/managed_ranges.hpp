// SPDX-License-Identifier: Apache-2.0
// The managed allocations of an address space, by address. Not locked.
#pragma once

#include <map>

#include "driver/managed/managed_page.hpp"
#include "driver/memory/space.hpp"

namespace npu::driver {

class ManagedRanges {
 public:
  // `at`: of `size` bytes, reserved in `space` as whole pages. Under the memory manager's mutex.
  void add(std::uint64_t at, Bytes size, const Space& space);
  // nullptr: none begins there.
  ManagedRange* find_range(std::uint64_t at);
  void remove(std::uint64_t at) { ranges_.erase(at); }
  // Of the first one; nothing: there is none.
  std::optional<std::uint64_t> first() const;

  // nullptr: `address` is in no managed page.
  ManagedPage* find(std::uint64_t address);
  // Device-local address of the page table entry of a managed page.
  std::uint64_t entry_of(std::uint64_t at) const;
  // kOutOfRange: the bytes are not all in one allocation.
  Status check(std::uint64_t at, Bytes size) const;

 private:
  using Ranges = std::map<std::uint64_t, ManagedRange>;

  Ranges::const_iterator range_of(std::uint64_t address) const;

  Ranges ranges_;
};

}  // namespace npu::driver
