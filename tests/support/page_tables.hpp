// SPDX-License-Identifier: Apache-2.0
// Builds page tables (npu/abi/page_table.hpp) in any memory, for tests without the driver.
//   PageTables tables(kContext, kTables, [&](address, raw) { store 8 bytes });
//   tables.map(1, 0x4000'0000, 6_MiB);
// Tables are made where they are missing, one after another from `first_table` on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "npu/abi/page_table.hpp"

namespace npu::test {

class PageTables {
 public:
  using Store = std::function<void(std::uint64_t address, std::uint64_t raw)>;

  PageTables(std::uint64_t context_base, std::uint64_t first_table, Store store)
      : context_base_(context_base), next_table_(first_table), store_(std::move(store)) {}

  // A page of 2 MiB, or of 1 GiB.
  void map(unsigned vmid, std::uint64_t address, std::uint64_t to, bool read = true,
           bool write = true) {
    store_(entry(vmid, address, 0), abi::PageTableEntry::page(to, read, write).raw);
  }
  void map_giant(unsigned vmid, std::uint64_t address, std::uint64_t to, bool read = true,
                 bool write = true) {
    store_(entry(vmid, address, 1), abi::PageTableEntry::page(to, read, write).raw);
  }
  void set(unsigned vmid, std::uint64_t address, unsigned level, std::uint64_t raw) {
    store_(entry(vmid, address, level), raw);
  }
  void set_context(unsigned vmid, std::uint64_t raw) { store_(context_base_ + 8 * vmid, raw); }

  // Where the entry of `level` for `address` lies.
  std::uint64_t entry(unsigned vmid, std::uint64_t address, unsigned level) {
    return table(vmid, address, level) + 8 * abi::table_index(address, level);
  }

 private:
  std::uint64_t table(unsigned vmid, std::uint64_t address, unsigned level) {
    const bool is_root = level + 1 == abi::kTableLevels;
    auto& found = tables_[{vmid, level, is_root ? 0 : address / abi::entry_span(level + 1)}];
    if (found != 0) return found;
    found = next_table_;
    next_table_ += abi::kTableSize;
    const std::uint64_t made = found;
    if (is_root) {
      set_context(vmid, abi::ContextEntry::root(made).raw);
    } else {
      set(vmid, address, level + 1, abi::PageTableEntry::table(made).raw);
    }
    return made;
  }

  const std::uint64_t context_base_;
  std::uint64_t next_table_;
  Store store_;
  std::map<std::tuple<unsigned, unsigned, std::uint64_t>, std::uint64_t> tables_;
};

}  // namespace npu::test
