// SPDX-License-Identifier: Apache-2.0
// BuddyAllocator: the tree that knows the longest run of free pages, across block borders. A node
// stands for an aligned power of two of pages. Below a block that is free or taken as a whole
// nothing is kept up to date: the search never goes there.
#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"
#include "npu/driver/buddy_allocator.hpp"

namespace npu::driver {

void BuddyAllocator::set_run(Page page, unsigned order, bool is_free) {
  const Page count = is_free ? Page{1} << order : 0;
  runs_[node(page, order)] = Run{count, count, count};
}

void BuddyAllocator::update_above(Page page, unsigned order) {
  Page half = Page{1} << order;
  for (std::size_t at = node(page, order) >> 1; at > 0; at >>= 1, half <<= 1) {
    const Run& left = runs_[2 * at];
    const Run& right = runs_[2 * at + 1];
    runs_[at] = Run{left.prefix == half ? half + right.prefix : left.prefix,
                    right.suffix == half ? half + left.suffix : right.suffix,
                    std::max({left.longest, right.longest, left.suffix + right.prefix})};
  }
}

// The first page of the free block that contains `page`, or kNone.
BuddyAllocator::Page BuddyAllocator::block_around(Page page) const {
  for (unsigned order = 0; order <= kMaxOrder; ++order) {
    const Page begin = page >> order << order;
    if (begin < first_) break;
    if (free_order_[begin] == order) return begin;
  }
  return kNone;
}

Result<DeviceMemory> BuddyAllocator::allocate_at(DeviceAddress address, Bytes size) {
  const auto reserved = checked_align_up(size, kPageSize);
  if (size == 0 || !reserved || !is_aligned(address.value, kPageSize)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} bytes at device address {:#x}", size, address.value));
  }
  const auto taken = [&] {
    return fail(
        ErrorCode::kOutOfMemory,
        fmt::format("{} bytes at device address {:#x} are not all free", size, address.value));
  };
  if (!range_fits(address.value, *reserved, Bytes{pages_} * kPageSize)) return taken();
  const Page begin = first_ + static_cast<Page>(address.value / kPageSize);
  const Page end = begin + static_cast<Page>(*reserved / kPageSize);
  for (Page page = begin; page < end;) {
    const Page block = block_around(page);
    if (block == kNone) return taken();
    page = block + (Page{1} << free_order_[block]);
  }
  // A free block shall begin where the allocation does.
  for (Page block = block_around(begin); block != begin; block = block_around(begin)) {
    split(block, free_order_[block]);
  }
  take_run(begin, end - begin);
  allocated_[begin] = end - begin;
  free_pages_ -= end - begin;
  ++allocations_;
  return DeviceMemory{address, size, *reserved};
}

// The first page of the lowest run of at least `count` free pages, or kNone.
BuddyAllocator::Page BuddyAllocator::find_run(Page count) const {
  if (runs_[1].longest < count) return kNone;
  std::size_t at = 1;
  Page page = 0;
  Page size = leaves_;
  while (runs_[at].prefix < count) {
    const Page half = size / 2;
    const Run& left = runs_[2 * at];
    const Run& right = runs_[2 * at + 1];
    if (left.longest >= count) {
      at = 2 * at;
    } else if (left.suffix + right.prefix >= count) {
      return page + half - left.suffix;
    } else {
      at = 2 * at + 1;
      page += half;
    }
    size = half;
  }
  return page;
}

}  // namespace npu::driver
