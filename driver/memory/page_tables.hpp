// SPDX-License-Identifier: Apache-2.0
// The page tables of one address space (page_table.hpp). Giant pages are used where address, memory
// and size allow it, and split when a part of one changes. Tables without a valid entry are given
// back, but only by recycle(), when the card has dropped what pointed to them.
#pragma once

#include <vector>

#include "driver/memory/table_memory.hpp"
#include "npu/base/units.hpp"

namespace npu::driver {

// Virtual addresses, sizes and memory in whole pages of 2 MiB.
struct PageRange {
  std::uint64_t at = 0;
  Bytes size = 0;
};
struct PageAccess {
  bool read = false;
  bool write = false;
};

class PageTables {
 public:
  static Result<PageTables> create(TableMemory& memory);

  std::uint64_t root_address() const { return memory_->address(root_); }
  // Points the range at `memory`, device-local, a peer_target() or a host_target(), whatever it
  // pointed to before.
  // kOutOfResources: too few tables; nothing was changed.
  Status map(const PageRange& range, std::uint64_t memory, PageAccess access);
  // Tables that map() would take.
  std::size_t tables_needed(const PageRange& range, std::uint64_t memory) const;
  // At most how many tables the calls of map() take that point the range, now mapped, at each of
  // `targets` one after another, with recycle() between them, and back from any of them without it.
  std::size_t tables_to_move(const PageRange& range,
                             const std::vector<std::uint64_t>& targets) const;
  // Entries that map the range, all of it mapped: of 1 GiB where they can be, else of 2 MiB.
  std::uint64_t entries(const PageRange& range) const;
  // Makes both ends of the range borders of pages. kOutOfResources, and nothing was changed.
  Status cut(const PageRange& range);
  // After cut(). Pages of the range that are not mapped are left alone.
  void protect(const PageRange& range, PageAccess access);
  void unmap(const PageRange& range);
  // Makes the tables of small pages for the range, whose entries are then not in the books: the
  // card or TableMemory::write_through() writes them. kOutOfResources, and nothing was changed.
  Status prepare(const PageRange& range);
  // All of a prepared range: entries become invalid.
  void forget(const PageRange& range);
  // Device-local address of the entry of a prepared page.
  std::uint64_t entry_address(std::uint64_t at) const;
  // The card has dropped every translation that unmap(), forget() and map() replaced.
  void recycle();
  // Gives all tables back.
  void destroy();

 private:
  PageTables(TableMemory& memory, TableId root) : memory_(&memory), root_(root) {}

  bool has_table(std::uint64_t at) const;
  abi::PageTableEntry entry_at(std::uint64_t at, unsigned level) const;
  TableId grow(TableId parent, unsigned index);
  TableId leaf_table(std::uint64_t at);
  TableId known_leaf_table(std::uint64_t at) const;
  TableId split(TableId directory, unsigned index);
  bool needs_split(std::uint64_t at) const;
  void map_giant(std::uint64_t at, abi::PageTableEntry entry);
  void prune(std::uint64_t at);
  void retire_all(TableId table, unsigned level);
  template <class Change>
  void change_leaves(const PageRange& range, const Change& change);

  TableMemory* memory_;
  TableId root_;
  std::vector<TableId> retired_;
};

}  // namespace npu::driver
