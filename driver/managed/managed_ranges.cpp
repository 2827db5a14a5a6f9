// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kTableSpan = abi::entry_span(1);  // that one page table maps

}  // namespace

Result<std::uint64_t> ManagedRanges::reserve(Bytes size) {
  const auto whole = checked_align_up(size, kPageSize);
  if (size == 0 || !whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes of managed memory", size));
  }
  return window_.reserve(*whole);
}

Status ManagedRanges::reserve_at(std::uint64_t at, Bytes size) {
  return window_.reserve_at(at, *checked_align_up(size, kPageSize));
}

namespace {

// Of one card. kOutOfResources.
Result<std::vector<std::uint64_t>> tables_on(const ManagedCardSpace& card, const PageRange& all) {
  const MutexHolder holder(card.memory->mutex());
  if (auto ok = card.space->prepare_managed(all); !ok) return forward_error(ok);
  std::vector<std::uint64_t> tables;
  for (auto part = align_down(all.at, kTableSpan); part < all.at + all.size; part += kTableSpan) {
    const auto entry = card.space->entry_address(std::max(part, all.at));
    tables.push_back(align_down(entry, Bytes{abi::kTableSize}));
  }
  return tables;
}

// A card that is gone needs nothing back.
Status take_tables(const ManagedCardSpace& card, const PageRange& all) {
  if (card.space == nullptr || !card.link->usable()) return {};
  const MutexHolder holder(card.memory->mutex());
  return card.space->release_managed(all);
}

PageRange pages_of(std::uint64_t at, Bytes size) {
  return {at, *checked_align_up(size, kPageSize)};
}

}  // namespace

Result<ManagedRange::Tables> ManagedRanges::prepare(std::uint64_t at, Bytes size) const {
  ManagedRange::Tables tables;
  for (const auto& card : cards_) {
    if (card.space == nullptr) {
      tables.emplace_back();
      continue;
    }
    auto own = tables_on(card, pages_of(at, size));
    if (!own) {
      static_cast<void>(release(at, size, tables.size()));
      return forward_error(own);
    }
    tables.push_back(std::move(*own));
  }
  return tables;
}

Result<ManagedRange::Tables> ManagedRanges::prepare(const ManagedCardSpace& card) const {
  ManagedRange::Tables tables;
  for (const auto& [at, range] : ranges_) {
    auto own = tables_on(card, pages_of(at, range.size));
    if (!own) {
      static_cast<void>(release(card, tables.size()));
      return forward_error(own);
    }
    tables.push_back(std::move(*own));
  }
  return tables;
}

Status ManagedRanges::release(std::uint64_t at, Bytes size, std::size_t cards) const {
  Status first;
  for (std::size_t card = 0; card < cards; ++card) {
    auto ok = take_tables(cards_[card], pages_of(at, size));
    if (!ok && first) first = std::move(ok);
  }
  return first;
}

Status ManagedRanges::release(const ManagedCardSpace& card, std::size_t ranges) const {
  Status first;
  for (auto range = ranges_.begin(); ranges != 0; ++range, --ranges) {
    auto ok = take_tables(card, pages_of(range->first, range->second.size));
    if (!ok && first) first = std::move(ok);
  }
  return first;
}

void ManagedRanges::come(unsigned place, ManagedRange::Tables tables) {
  auto own = tables.begin();
  for (auto& [at, range] : ranges_) {
    range.tables.resize(cards_.size());
    range.tables[place] = std::move(*own++);
    for (auto& page : range.pages) page.cards.resize(cards_.size());
  }
}

void ManagedRanges::add(std::uint64_t at, Bytes size, ManagedRange::Tables tables) {
  auto& range = ranges_[at];
  range.size = size;
  range.pages.resize(static_cast<std::size_t>(*checked_align_up(size, kPageSize) / kPageSize));
  for (auto& page : range.pages) page.cards.resize(cards_.size());
  range.tables = std::move(tables);
}

ManagedRange* ManagedRanges::find_range(std::uint64_t at) {
  const auto found = ranges_.find(at);
  return found == ranges_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> ManagedRanges::first() const {
  if (ranges_.empty()) return std::nullopt;
  return ranges_.begin()->first;
}

ManagedRanges::Ranges::const_iterator ManagedRanges::range_of(std::uint64_t address) const {
  auto found = ranges_.upper_bound(address);
  if (found == ranges_.begin()) return ranges_.end();
  --found;
  const bool inside = address - found->first < found->second.pages.size() * kPageSize;
  return inside ? found : ranges_.end();
}

ManagedPage* ManagedRanges::find(std::uint64_t address) {
  const auto range = range_of(address);
  if (range == ranges_.end()) return nullptr;
  const auto index = static_cast<std::size_t>((address - range->first) / kPageSize);
  return &ranges_.at(range->first).pages[index];
}

std::uint64_t ManagedRanges::entry_of(std::uint64_t at, unsigned card) const {
  const auto& range = *range_of(at);
  const auto table = (at - align_down(range.first, kTableSpan)) / kTableSpan;
  return range.second.tables[card][static_cast<std::size_t>(table)] +
         sizeof(abi::PageTableEntry) * abi::table_index(at, 0);
}

Status ManagedRanges::check(std::uint64_t at, Bytes size) const {
  const auto range = range_of(at);
  const bool inside =
      range != ranges_.end() && range_fits(at - range->first, size, range->second.size);
  if (inside) return {};
  return fail(ErrorCode::kOutOfRange,
              fmt::format("{} bytes at {:#x} are not in one managed allocation", size, at));
}

}  // namespace npu::driver
