// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/managed_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kTableSpan = abi::entry_span(1);  // that one page table maps

}  // namespace

void ManagedRanges::add(std::uint64_t at, Bytes size, const Space& space) {
  auto& range = ranges_[at];
  range.size = size;
  const auto pages = (size + kPageSize - 1) / kPageSize;
  range.pages.resize(static_cast<std::size_t>(pages));
  const std::uint64_t end = at + pages * kPageSize;
  for (auto part = align_down(at, kTableSpan); part < end; part += kTableSpan) {
    range.tables.push_back(
        align_down(space.entry_address(std::max(part, at)), Bytes{abi::kTableSize}));
  }
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

std::uint64_t ManagedRanges::entry_of(std::uint64_t at) const {
  const auto& range = *range_of(at);
  const auto table = (at - align_down(range.first, kTableSpan)) / kTableSpan;
  return range.second.tables[static_cast<std::size_t>(table)] +
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
