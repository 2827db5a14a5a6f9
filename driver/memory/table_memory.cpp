// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/table_memory.hpp"

#include <fmt/format.h>

#include "npu/abi/registers.hpp"

namespace npu::driver {

Result<std::unique_ptr<TableMemory>> TableMemory::create(CardLink& link) {
  const Bytes memory_end = link.card().hbm_size;
  const std::uint64_t context = memory_end + abi::kReservedContextOffset;
  auto region = link.platform().map_bar(link.bdf(), abi::kMemoryBar, context,
                                        kTablesOffset + abi::kReservedTableSize,
                                        platform::Caching::kWriteCombining);
  if (!region) return forward_error(region);
  std::unique_ptr<TableMemory> memory(
      new TableMemory(link, memory_end + abi::kReservedTableOffset, std::move(*region)));
  for (unsigned vmid = 0; vmid < abi::kVmids; ++vmid) memory->write_context(vmid, {});
  memory->barrier();
  link.write(abi::MmuContextBase::from_raw(context));
  return memory;
}

// Memory holds anything after power-on, so a table is emptied before its first use; later uses
// empty what the copy says is left.
Result<TableId> TableMemory::allocate() {
  if (free_.empty() && fresh_ == kTables) {
    return fail(ErrorCode::kOutOfResources, fmt::format("all {} page tables in use", kTables));
  }
  if (free_.empty()) {
    const TableId table = fresh_++;
    shadows_[table] = std::make_unique<Shadow>();
    empty(table);
    return table;
  }
  const TableId table = free_.back();
  free_.pop_back();
  // Given back while it was held: nobody knows what is in it.
  if (shadows_[table]->held != 0) {
    *shadows_[table] = {};
    empty(table);
  }
  for (unsigned i = 0; valid_entries(table) > 0 && i < abi::kTableEntries; ++i) {
    if (read(table, i).valid()) write(table, i, {});
  }
  return table;
}

void TableMemory::empty(TableId table) {
  const Bytes base = kTablesOffset + table * Bytes{abi::kTableSize};
  for (unsigned i = 0; i < abi::kTableEntries; ++i) store(base + 8 * i, 0);
}

void TableMemory::free(TableId table) {
  free_.push_back(table);
}

void TableMemory::write(TableId table, unsigned index, abi::PageTableEntry entry) {
  auto& shadow = *shadows_[table];
  auto& slot = shadow.entries[index];
  shadow.valid += entry.valid() ? 1 : 0;
  shadow.valid -= abi::PageTableEntry{slot}.valid() ? 1 : 0;
  slot = entry.raw;
  store(kTablesOffset + table * Bytes{abi::kTableSize} + 8 * index, entry.raw);
}

void TableMemory::write_context(unsigned vmid, abi::ContextEntry entry) {
  store(sizeof entry * Bytes{vmid}, entry.raw);
}

}  // namespace npu::driver
