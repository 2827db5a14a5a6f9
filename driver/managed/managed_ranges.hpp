// SPDX-License-Identifier: Apache-2.0
// The managed allocations of a process, by address: the same in the address spaces of all its
// cards, in a window of their own (virtualisation.md S1). Not locked but where it says so:
// PagesLock is.
#pragma once

#include <map>
#include <optional>

#include "driver/device/card_features.hpp"
#include "driver/managed/managed_page.hpp"
#include "driver/managed/managed_window.hpp"
#include "driver/memory/memory_manager.hpp"

namespace npu::driver {

// A card's part of managed memory, at one place among its cards.
struct ManagedCardSpace {
  CardLink* link = nullptr;  // which card it is
  MemoryManager* memory = nullptr;
  const CardFeatures* features = nullptr;
  Space* space = nullptr;  // null: the card has left, and may come back
};

class ManagedRanges {
 public:
  // `cards` outlives it; after it has changed, come() or go() is called.
  explicit ManagedRanges(const std::vector<ManagedCardSpace>& cards)
      : cards_(cards), window_(cards.front().space->window().program()) {}

  // An allocation is made in three steps: addresses, page tables, pages; and goes in three.
  // Addresses of whole pages. kInvalidArgument: 0 bytes; kOutOfResources: none left.
  Result<std::uint64_t> reserve(Bytes size);
  // These. kAlreadyExists.
  Status reserve_at(std::uint64_t at, Bytes size);
  void give_back(std::uint64_t at) { window_.release(at); }
  // Without any lock: they wait for the memory managers' mutexes, whose holders may wait for work
  // on the card, and of the service of its faults. kOutOfResources: no page tables left.
  Result<ManagedRange::Tables> prepare(std::uint64_t at, Bytes size) const;
  // Its pages are mapped nowhere any more. What a card reports the others do not depend on.
  Status release(std::uint64_t at, Bytes size) const { return release(at, size, cards_.size()); }
  // The same two of one card and all allocations, in the order of addresses.
  Result<ManagedRange::Tables> prepare(const ManagedCardSpace& card) const;
  Status release(const ManagedCardSpace& card) const { return release(card, ranges_.size()); }
  // All allocations have the card at that place, with these tables; it has no page.
  void come(unsigned place, ManagedRange::Tables tables);
  // Pages that nobody has touched.
  void add(std::uint64_t at, Bytes size, ManagedRange::Tables tables);
  void remove(std::uint64_t at) { ranges_.erase(at); }
  // nullptr: none begins there.
  ManagedRange* find_range(std::uint64_t at);
  // Of the first one; nothing: there is none.
  std::optional<std::uint64_t> first() const;
  // do_it(address, page) for each page.
  template <class F>
  void for_each_page(F do_it) {
    for (auto& [at, range] : ranges_) {
      for (std::size_t i = 0; i < range.pages.size(); ++i) {
        do_it(at + i * kPageSize, range.pages[i]);
      }
    }
  }

  // nullptr: `address` is in no managed page.
  ManagedPage* find(std::uint64_t address);
  // Device-local address of the page table entry of a managed page.
  std::uint64_t entry_of(std::uint64_t at, unsigned card) const;
  // kOutOfRange: the bytes are not all in one allocation.
  Status check(std::uint64_t at, Bytes size) const;

 private:
  using Ranges = std::map<std::uint64_t, ManagedRange>;

  Ranges::const_iterator range_of(std::uint64_t address) const;
  Status release(std::uint64_t at, Bytes size, std::size_t cards) const;
  Status release(const ManagedCardSpace& card, std::size_t ranges) const;

  const std::vector<ManagedCardSpace>& cards_;
  ManagedWindow window_;
  Ranges ranges_;
};

}  // namespace npu::driver
