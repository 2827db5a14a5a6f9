// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kTableSpan = abi::entry_span(1);  // that one page table maps

}  // namespace

Status ManagedRanges::prepare(unsigned card, const PageRange& range) {
  const auto [device, space] = cards_[card];
  const MutexHolder holder(device->memory->mutex());
  return space->prepare_managed(range);
}

// A card that is gone needs nothing back.
Status ManagedRanges::release(unsigned card, const PageRange& range) {
  const auto [device, space] = cards_[card];
  if (!device->usable()) return {};
  const MutexHolder holder(device->memory->mutex());
  return space->release_managed(range);
}

Result<std::uint64_t> ManagedRanges::add(Bytes size) {
  const auto whole = checked_align_up(size, kPageSize);
  if (size == 0 || !whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} bytes of managed memory", size));
  }
  const auto at = window_.reserve(*whole);
  if (!at) return at;
  return add_reserved(*at, size);
}

Result<std::uint64_t> ManagedRanges::add_at(std::uint64_t at, Bytes size) {
  const auto whole = *checked_align_up(size, kPageSize);
  if (auto ok = window_.reserve_at(at, whole); !ok) return forward_error(ok);
  return add_reserved(at, size);
}

// Its addresses are given back if it fails.
Result<std::uint64_t> ManagedRanges::add_reserved(std::uint64_t at, Bytes size) {
  const auto whole = *checked_align_up(size, kPageSize);
  const PageRange all{at, whole};
  for (unsigned card = 0; card < cards_.size(); ++card) {
    auto ok = prepare(card, all);
    if (ok) continue;
    while (card-- > 0) static_cast<void>(release(card, all));
    window_.release(at);
    return forward_error(ok);
  }
  auto& range = ranges_[at];
  range.size = size;
  range.pages.resize(static_cast<std::size_t>(whole / kPageSize));
  for (auto& page : range.pages) page.cards.resize(cards_.size());
  range.tables.resize(cards_.size());
  for (unsigned card = 0; card < cards_.size(); ++card) {
    for (auto part = align_down(at, kTableSpan); part < at + whole; part += kTableSpan) {
      const auto entry = cards_[card].space->entry_address(std::max(part, at));
      range.tables[card].push_back(align_down(entry, Bytes{abi::kTableSize}));
    }
  }
  return at;
}

Status ManagedRanges::remove(std::uint64_t at) {
  const PageRange all{at, ranges_.at(at).pages.size() * kPageSize};
  Status first;
  for (unsigned card = 0; card < cards_.size(); ++card) {
    auto ok = release(card, all);
    if (!ok && first) first = std::move(ok);
  }
  ranges_.erase(at);
  if (first) window_.release(at);
  return first;
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
