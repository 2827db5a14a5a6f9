// SPDX-License-Identifier: Apache-2.0
// The card's reserved memory for page tables (layout.hpp): handing out 4 KiB tables and writing
// their entries. The host keeps a copy of every table, so that none is ever read over the link.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "driver/link/card_link.hpp"
#include "npu/abi/layout.hpp"
#include "npu/abi/page_table.hpp"
#include "npu/driver/scan.hpp"

namespace npu::driver {

using TableId = std::uint32_t;

class TableMemory {
 public:
  // Maps the reserved area, empties the context table and tells the card where it is.
  static Result<std::unique_ptr<TableMemory>> create(CardLink& link);

  // A table whose entries are all invalid, on the card too once barrier() was called.
  // kOutOfResources.
  Result<TableId> allocate();
  // No entry points to it any more and the card has dropped those that did.
  void free(TableId table);
  std::size_t available() const { return free_.size() + (kTables - fresh_); }
  std::size_t in_use() const { return kTables - available(); }

  abi::PageTableEntry read(TableId table, unsigned index) const {
    return {shadows_[table]->entries[index]};
  }
  // Neighbouring entries written one after another leave as one posted write.
  void write(TableId table, unsigned index, abi::PageTableEntry entry);
  // To the card alone: the copy does not know what somebody else writes there, too.
  // `address` is the entry's, device-local. Needs no lock.
  void write_through(std::uint64_t address, abi::PageTableEntry entry) {
    store(kTablesOffset + (address - tables_), entry.raw);
    barrier();
  }
  // A held table counts as one with a valid entry, as often as it is held.
  void hold(TableId table) { ++shadows_[table]->held; }
  void release(TableId table) { --shadows_[table]->held; }
  unsigned valid_entries(TableId table) const {
    return shadows_[table]->valid + shadows_[table]->held;
  }
  void write_context(unsigned vmid, abi::ContextEntry entry);
  // Everything written before is in place before anything written after.
  void barrier() { link_.platform().write_barrier(); }

  std::uint64_t address(TableId table) const { return tables_ + table * Bytes{abi::kTableSize}; }
  TableId table_at(std::uint64_t address) const {
    return static_cast<TableId>((address - tables_) / abi::kTableSize);
  }

 private:
  static constexpr TableId kTables =
      static_cast<TableId>(abi::kReservedTableSize / abi::kTableSize);
  // Of the mapping, which begins at the context table.
  static constexpr Bytes kTablesOffset = abi::kReservedTableOffset - abi::kReservedContextOffset;

  struct Shadow {
    std::array<std::uint64_t, abi::kTableEntries> entries{};
    unsigned valid = 0;
    unsigned held = 0;
  };

  TableMemory(CardLink& link, std::uint64_t tables, std::unique_ptr<platform::MmioRegion> region)
      : link_(link), tables_(tables), region_(std::move(region)), shadows_(kTables) {}
  void empty(TableId table);
  void store(Bytes offset, std::uint64_t value) {
    if (!link_.lost()) region_->write64(offset, value);
  }

  CardLink& link_;
  const std::uint64_t tables_;  // device-local address of table 0
  std::unique_ptr<platform::MmioRegion> region_;
  std::vector<std::unique_ptr<Shadow>> shadows_;
  std::vector<TableId> free_;  // used before; what is left in them is known
  TableId fresh_ = 0;          // tables from here on were never used
};

}  // namespace npu::driver
