// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/virtual_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/abi/page_table.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {

VirtualRanges::VirtualRanges(unsigned window) {
  // Of 16 TiB the lower half is that of the first windows, the upper one that of those behind them;
  // of the first 16 TiB neither is given away.
  constexpr unsigned kPairs = (1U << (abi::kVirtualBits - kLastOrder - 1)) - 1;
  static_assert(kWindows == 2 * kPairs && abi::kVmids <= kWindows);
  const std::uint64_t half = window < kPairs ? 2 * (window + 1) : 2 * (window - kPairs + 1) + 1;
  free_[kLastOrder].insert(half << kLastOrder);
}

unsigned VirtualRanges::order_of(Bytes size, Bytes alignment) {
  return std::max({ceil_log2(size), floor_log2(alignment), kFirstOrder});
}

VirtualRanges VirtualRanges::managed() {
  VirtualRanges ranges;
  ranges.free_ = ranges.whole_ = managed_blocks();
  return ranges;
}

// 1 TiB and, aligned to that, 2 TiB.
VirtualRanges::Blocks VirtualRanges::managed_blocks() {
  constexpr unsigned kOrder = 40;
  Blocks blocks;
  blocks[kOrder].insert(kManagedBegin);
  blocks[kOrder + 1].insert(kManagedBegin + (std::uint64_t{1} << kOrder));
  return blocks;
}

// What is longer than any block is all that there is of managed memory.
bool VirtualRanges::take_whole(std::uint64_t begin, Bytes size, unsigned order, bool plain) {
  const bool fits = order == kWholeOrder && begin == kManagedBegin && size <= kManagedSize;
  if (!fits || whole_[kWholeOrder - 1].empty() || free_ != whole_) return false;
  free_ = {};
  reserved_[begin] = {size, order, plain};
  return true;
}

Result<std::uint64_t> VirtualRanges::reserve(Bytes size, Bytes alignment, bool plain) {
  const unsigned wanted = order_of(size, alignment);
  if (take_whole(kManagedBegin, size, wanted, plain)) return kManagedBegin;
  unsigned order = wanted;
  while (order <= kLastOrder && free_[order].empty()) ++order;
  if (order > kLastOrder) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("no {} free device virtual addresses in one range", size));
  }
  const std::uint64_t begin = *free_[order].begin();
  free_[order].erase(free_[order].begin());
  while (order > wanted) {
    --order;
    free_[order].insert(begin + (std::uint64_t{1} << order));
  }
  reserved_[begin] = {size, wanted, plain};
  return begin;
}

Status VirtualRanges::reserve_at(std::uint64_t begin, Bytes size, bool plain) {
  const unsigned wanted = order_of(size, 1);
  if (take_whole(begin, size, wanted, plain)) return {};
  const auto block = [begin](unsigned order) { return align_down(begin, Bytes{1} << order); };
  unsigned order = wanted;
  while (order <= kLastOrder && free_[order].count(block(order)) == 0) ++order;
  if (order > kLastOrder || block(wanted) != begin) {
    return fail(ErrorCode::kAlreadyExists,
                fmt::format("{} bytes at {:#x} are not free", size, begin));
  }
  free_[order].erase(block(order));
  while (order > wanted) {
    --order;
    free_[order].insert(block(order) ^ (Bytes{1} << order));
  }
  reserved_[begin] = {size, wanted, plain};
  return {};
}

void VirtualRanges::release(std::uint64_t begin) {
  unsigned order = reserved_.at(begin).order;
  reserved_.erase(begin);
  if (order == kWholeOrder && begin == kManagedBegin) {
    free_ = whole_;
    return;
  }
  while (order < kLastOrder && free_[order].erase(begin ^ (std::uint64_t{1} << order)) > 0) {
    begin &= ~(std::uint64_t{1} << order);
    ++order;
  }
  free_[order].insert(begin);
}

const Reservation* VirtualRanges::find(std::uint64_t at) const {
  const auto found = reserved_.find(at);
  return found == reserved_.end() ? nullptr : &found->second;
}

VirtualRanges::Reservations::const_iterator VirtualRanges::containing(std::uint64_t at) const {
  auto above = reserved_.upper_bound(at);
  if (above == reserved_.begin()) return reserved_.end();
  --above;
  return at - above->first < above->second.size ? above : reserved_.end();
}

}  // namespace npu::driver
