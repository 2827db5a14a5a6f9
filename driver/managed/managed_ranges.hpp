// SPDX-License-Identifier: Apache-2.0
// The managed allocations of a process, by address: the same in the address spaces of all its
// cards, in a window of their own (virtualisation.md S1). Not locked.
#pragma once

#include <map>
#include <optional>

#include "driver/managed/managed_page.hpp"
#include "driver/managed/managed_window.hpp"
#include "driver/memory/space.hpp"

namespace npu::driver {

// A card's part of managed memory.
struct ManagedCardSpace {
  Device::Impl* device = nullptr;
  Space* space = nullptr;
};

class ManagedRanges {
 public:
  // What `cards` is refers to, it must not change.
  explicit ManagedRanges(const std::vector<ManagedCardSpace>& cards)
      : cards_(cards), window_(cards.front().space->window().program()) {}

  // Whole pages, mapped nowhere, for `size` bytes. kOutOfResources: no addresses or page tables
  // left.
  Result<std::uint64_t> add(Bytes size);
  // The same at this address. kAlreadyExists.
  Result<std::uint64_t> add_at(std::uint64_t at, Bytes size);
  // nullptr: none begins there.
  ManagedRange* find_range(std::uint64_t at);
  // Its pages are mapped nowhere any more. What it reports of a card the others do not depend on.
  Status remove(std::uint64_t at);
  // Of the first one; nothing: there is none.
  std::optional<std::uint64_t> first() const;

  // nullptr: `address` is in no managed page.
  ManagedPage* find(std::uint64_t address);
  // Device-local address of the page table entry of a managed page.
  std::uint64_t entry_of(std::uint64_t at, unsigned card) const;
  // kOutOfRange: the bytes are not all in one allocation.
  Status check(std::uint64_t at, Bytes size) const;

 private:
  using Ranges = std::map<std::uint64_t, ManagedRange>;

  Ranges::const_iterator range_of(std::uint64_t address) const;
  Result<std::uint64_t> add_reserved(std::uint64_t at, Bytes size);
  Status prepare(unsigned card, const PageRange& range);
  Status release(unsigned card, const PageRange& range);

  const std::vector<ManagedCardSpace>& cards_;
  ManagedWindow window_;
  Ranges ranges_;
};

}  // namespace npu::driver
