// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

using abi::PageTableEntry;

constexpr Bytes kPage = abi::entry_span(0);
constexpr Bytes kGiant = abi::entry_span(1);

// What follows in the range below the next border of `span`.
std::uint64_t step(std::uint64_t at, std::uint64_t end, Bytes span) {
  return std::min(end, align_down(at, span) + span);
}

bool fits_giant(std::uint64_t at, std::uint64_t end, std::uint64_t memory) {
  return is_aligned(at | memory, kGiant) && end - at >= kGiant;
}

PageTableEntry page(std::uint64_t memory, PageAccess access) {
  return PageTableEntry::page(memory, access.read, access.write);
}

}  // namespace

Result<PageTables> PageTables::create(TableMemory& memory) {
  const auto root = memory.allocate();
  if (!root) return forward_error(root);
  return PageTables(memory, *root);
}

// The entry of `level` for `at`; invalid if there is no table for it.
PageTableEntry PageTables::entry_at(std::uint64_t at, unsigned level) const {
  TableId table = root_;
  for (unsigned above = abi::kTableLevels - 1;; --above) {
    const auto entry = memory_->read(table, abi::table_index(at, above));
    if (above == level || !entry.valid()) return entry;
    if (entry.leaf()) return {};
    table = memory_->table_at(entry.address());
  }
}

std::size_t PageTables::tables_needed(const PageRange& range, std::uint64_t memory) const {
  std::size_t needed = 0;
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end;) {
    const auto next = step(at, end, kGiant);
    const bool first_of_directory = at == range.at || is_aligned(at, abi::entry_span(2));
    if (first_of_directory && !entry_at(at, 2).valid()) ++needed;
    if (!has_table(at) && !fits_giant(at, end, memory + (at - range.at))) ++needed;
    at = next;
  }
  return needed;
}

bool PageTables::has_table(std::uint64_t at) const {
  const auto entry = entry_at(at, 1);
  return entry.valid() && !entry.leaf();
}

std::uint64_t PageTables::entries(const PageRange& range) const {
  std::uint64_t all = 0;
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end;) {
    const auto next = step(at, end, kGiant);
    all += has_table(at) ? (next - at) / kPage : 1;
    at = next;
  }
  return all;
}

// A table that a giant page replaces is given back by recycle() only, so that going back from there
// takes another one.
std::size_t PageTables::tables_to_move(const PageRange& range,
                                       const std::vector<std::uint64_t>& targets) const {
  std::size_t needed = 0;
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end; at = step(at, end, kGiant)) {
    const bool first_of_directory = at == range.at || is_aligned(at, abi::entry_span(2));
    if (first_of_directory && !entry_at(at, 2).valid()) ++needed;
    const bool had_table = has_table(at);
    bool table = had_table;
    std::size_t most = 0;  // tables beyond what there is now
    for (const auto target : targets) {
      const bool next = !fits_giant(at, end, target + (at - range.at));
      const bool both = table || next;
      const bool twice = table && !next;
      most = std::max<std::size_t>(most, (both ? 1U : 0U) + (twice ? 1U : 0U));
      table = next;
    }
    needed += most - std::min<std::size_t>(most, had_table ? 1 : 0);
  }
  return needed;
}

// The new table's entries are in place before the card can find it.
TableId PageTables::grow(TableId parent, unsigned index) {
  const TableId table = *memory_->allocate();  // counted by the caller
  memory_->barrier();
  memory_->write(parent, index, PageTableEntry::table(memory_->address(table)));
  return table;
}

// Replaces a giant page by a table of small ones that say the same.
TableId PageTables::split(TableId directory, unsigned index) {
  const auto giant = memory_->read(directory, index);
  const TableId table = *memory_->allocate();
  for (unsigned i = 0; i < abi::kTableEntries; ++i) {
    memory_->write(table, i,
                   page(giant.target() + i * kPage, {giant.may_read(), giant.may_write()}));
  }
  memory_->barrier();
  memory_->write(directory, index, PageTableEntry::table(memory_->address(table)));
  return table;
}

// The level 0 table for `at`, made if need be.
TableId PageTables::leaf_table(std::uint64_t at) {
  const auto top = memory_->read(root_, abi::table_index(at, 2));
  const TableId directory =
      top.valid() ? memory_->table_at(top.address()) : grow(root_, abi::table_index(at, 2));
  const unsigned index = abi::table_index(at, 1);
  const auto entry = memory_->read(directory, index);
  if (!entry.valid()) return grow(directory, index);
  return entry.leaf() ? split(directory, index) : memory_->table_at(entry.address());
}

void PageTables::map_giant(std::uint64_t at, PageTableEntry entry) {
  const auto top = memory_->read(root_, abi::table_index(at, 2));
  const TableId directory =
      top.valid() ? memory_->table_at(top.address()) : grow(root_, abi::table_index(at, 2));
  const unsigned index = abi::table_index(at, 1);
  const auto old = memory_->read(directory, index);
  memory_->write(directory, index, entry);
  if (old.valid() && !old.leaf()) retired_.push_back(memory_->table_at(old.address()));
}

Status PageTables::map(const PageRange& range, std::uint64_t memory, PageAccess access) {
  const auto needed = tables_needed(range, memory);
  if (needed > memory_->available()) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("{} page tables needed to map {} bytes at {:#x}, {} left", needed,
                            range.size, range.at, memory_->available()));
  }
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end;) {
    if (fits_giant(at, end, memory)) {
      map_giant(at, page(memory, access));
      at += kGiant;
      memory += kGiant;
      continue;
    }
    const TableId table = leaf_table(at);
    for (const auto next = step(at, end, kGiant); at < next; at += kPage, memory += kPage) {
      memory_->write(table, abi::table_index(at, 0), page(memory, access));
    }
  }
  memory_->barrier();
  return {};
}

bool PageTables::needs_split(std::uint64_t at) const {
  if (is_aligned(at, kGiant)) return false;
  const auto entry = entry_at(at, 1);
  return entry.valid() && entry.leaf();
}

Status PageTables::cut(const PageRange& range) {
  const auto end = range.at + range.size;
  const bool first = needs_split(range.at);
  const bool last =
      needs_split(end) && !(first && align_down(range.at, kGiant) == align_down(end, kGiant));
  const std::size_t needed = (first ? 1U : 0U) + (last ? 1U : 0U);
  if (needed > memory_->available()) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("no page table left to split the giant page at {:#x}",
                            align_down(first ? range.at : end, kGiant)));
  }
  if (first) leaf_table(range.at);
  if (last) leaf_table(end);
  return {};
}

template <class Change>
void PageTables::change_leaves(const PageRange& range, const Change& change) {
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end;) {
    const auto next = step(at, end, kGiant);
    const auto entry = entry_at(at, 1);
    if (entry.valid() && entry.leaf()) {
      const auto directory = memory_->table_at(entry_at(at, 2).address());
      memory_->write(directory, abi::table_index(at, 1), change(entry));
    } else if (entry.valid()) {
      const TableId table = memory_->table_at(entry.address());
      for (auto small = at; small < next; small += kPage) {
        const auto old = memory_->read(table, abi::table_index(small, 0));
        if (old.valid()) memory_->write(table, abi::table_index(small, 0), change(old));
      }
    }
    prune(at);
    at = next;
  }
  memory_->barrier();
}

void PageTables::protect(const PageRange& range, PageAccess access) {
  change_leaves(range, [&](PageTableEntry old) { return page(old.target(), access); });
}

void PageTables::unmap(const PageRange& range) {
  change_leaves(range, [](PageTableEntry) { return PageTableEntry{}; });
}

TableId PageTables::known_leaf_table(std::uint64_t at) const {
  return memory_->table_at(entry_at(at, 1).address());
}

Status PageTables::prepare(const PageRange& range) {
  constexpr std::uint64_t kSmall = kPage;  // never as giant pages
  const auto needed = tables_needed(range, range.at + kSmall);
  if (needed > memory_->available()) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("{} page tables needed for {} bytes at {:#x}, {} left", needed,
                            range.size, range.at, memory_->available()));
  }
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end; at = step(at, end, kGiant)) memory_->hold(leaf_table(at));
  memory_->barrier();
  return {};
}

void PageTables::forget(const PageRange& range) {
  const auto end = range.at + range.size;
  for (auto at = range.at; at < end;) {
    const auto next = step(at, end, kGiant);
    const TableId table = known_leaf_table(at);
    for (auto small = at; small < next; small += kPage) {
      memory_->write(table, abi::table_index(small, 0), {});
    }
    memory_->release(table);
    prune(at);
    at = next;
  }
  memory_->barrier();
}

std::uint64_t PageTables::entry_address(std::uint64_t at) const {
  return memory_->address(known_leaf_table(at)) + sizeof(PageTableEntry) * abi::table_index(at, 0);
}

// Takes tables without a valid entry out of the path to `at`.
void PageTables::prune(std::uint64_t at) {
  const auto top = memory_->read(root_, abi::table_index(at, 2));
  if (!top.valid()) return;
  const TableId directory = memory_->table_at(top.address());
  const auto entry = memory_->read(directory, abi::table_index(at, 1));
  if (entry.valid() && !entry.leaf()) {
    const TableId table = memory_->table_at(entry.address());
    if (memory_->valid_entries(table) == 0) {
      memory_->write(directory, abi::table_index(at, 1), {});
      retired_.push_back(table);
    }
  }
  if (memory_->valid_entries(directory) == 0) {
    memory_->write(root_, abi::table_index(at, 2), {});
    retired_.push_back(directory);
  }
}

void PageTables::recycle() {
  for (const auto table : retired_) memory_->free(table);
  retired_.clear();
}

void PageTables::retire_all(TableId table, unsigned level) {
  for (unsigned i = 0; level > 0 && i < abi::kTableEntries; ++i) {
    const auto entry = memory_->read(table, i);
    if (entry.valid() && !entry.leaf()) retire_all(memory_->table_at(entry.address()), level - 1);
  }
  retired_.push_back(table);
}

void PageTables::destroy() {
  retire_all(root_, abi::kTableLevels - 1);
  recycle();
}

}  // namespace npu::driver
