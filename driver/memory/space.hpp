// SPDX-License-Identifier: Apache-2.0
// One address space: reservations, mappings, page tables. Not locked: MemoryManager is.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/memory/address_windows.hpp"
#include "driver/memory/held_memory.hpp"
#include "driver/memory/invalidator.hpp"
#include "driver/memory/mappings.hpp"
#include "driver/memory/page_tables.hpp"
#include "driver/memory/physical_memory.hpp"
#include "driver/memory/virtual_ranges.hpp"
#include "npu/driver/address_space.hpp"

namespace npu::driver {

class Space {
 public:
  static Result<std::unique_ptr<Space>> create(unsigned vmid, std::unique_ptr<AddressWindow> window,
                                               PhysicalMemory& physical, TableMemory& tables,
                                               Invalidator& invalidator);

  unsigned vmid() const { return vmid_; }
  const AddressWindow& window() const { return *window_; }
  // Whose memory it counts for; null: nobody's.
  const std::shared_ptr<MemoryQuota>& quota() const { return quota_; }
  void set_quota(std::shared_ptr<MemoryQuota> quota) { quota_ = std::move(quota); }
  Result<DeviceMemory> allocate(Bytes size, bool pinned);
  Status free(std::uint64_t at);
  HeldMemory& held() { return held_; }
  const HeldMemory& held() const { return held_; }
  Result<std::uint64_t> reserve(Bytes size, Bytes alignment);
  Status release(std::uint64_t at);
  Status map(const PageRange& range, MemoryHandle memory, Bytes offset, Access access);
  // PageTables::entries().
  std::uint64_t entries(const PageRange& range) const { return tables_.entries(range); }
  // Managed memory, whose pages are in no mapping: their entries are written with write_entry(), or
  // by the card itself. The range is in VirtualRanges::managed(). kOutOfResources.
  Status prepare_managed(const PageRange& range);
  // Its pages are mapped nowhere any more.
  Status release_managed(const PageRange& range);
  // Device-local address of the entry of one of its pages.
  std::uint64_t entry_address(std::uint64_t at) const { return tables_.entry_address(at); }
  // By such an address. Needs no lock.
  void write_entry(std::uint64_t address, abi::PageTableEntry entry) {
    table_memory_.write_through(address, entry);
  }
  // The card drops its translation of the page.
  Status invalidate_page(std::uint64_t at) { return invalidate({at, kPageSize}); }
  Status set_access(const PageRange& range, Access access);
  Status unmap(const PageRange& range);
  std::optional<AddressRange> range_of(std::uint64_t address) const;
  bool maps(MemoryHandle memory) const { return mappings_.has(memory); }
  // `visit(memory)` of each mapping, in the order of addresses.
  template <class F>
  void for_each_mapping(F visit) const {
    for (const auto& [at, mapping] : mappings_) visit(mapping.memory);
  }

  // --- Compaction. At most how many tables remap() takes if blocks move to all their `targets` one
  // after another, and from one of them back; by the index of the block.
  std::size_t tables_to_remap(const std::vector<std::vector<std::uint64_t>>& targets) const;
  // Points the mappings of moved blocks to where these lie now, without invalidation; `changed`
  // if there were any. kOutOfResources: too few tables for some; the others were changed.
  Status remap(const std::vector<bool>& moved, bool& changed);
  // The card drops every translation of the space.
  Status invalidate_all();
  // Gives everything back. `card_usable` false: without telling the card.
  Status tear_down(bool card_usable);

 private:
  Space(unsigned vmid, std::unique_ptr<AddressWindow> window, PhysicalMemory& physical,
        TableMemory& table_memory, PageTables tables, Invalidator& invalidator)
      : vmid_(vmid),
        window_(std::move(window)),
        physical_(physical),
        table_memory_(table_memory),
        tables_(std::move(tables)),
        invalidator_(invalidator),
        ranges_(window_->number()),
        held_(physical, vmid),
        mappings_(physical) {}

  std::string place(std::uint64_t at) const;
  Status check_range(const PageRange& range) const;
  Status check_mapped(const PageRange& range) const;
  Status invalidate(const PageRange& range);
  Status write_tables(const PageRange& range, const Mapping& mapping);
  Status drop(const PageRange& range);

  const unsigned vmid_;
  const std::unique_ptr<AddressWindow> window_;
  PhysicalMemory& physical_;
  TableMemory& table_memory_;
  PageTables tables_;
  Invalidator& invalidator_;
  VirtualRanges ranges_;
  HeldMemory held_;
  Mappings mappings_;
  std::map<std::uint64_t, Bytes> managed_;  // sizes of managed ranges
  bool invalidation_failed_ = false;
  std::shared_ptr<MemoryQuota> quota_;
};

}  // namespace npu::driver
