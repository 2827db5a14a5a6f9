// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/buddy_allocator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr unsigned kGiantOrder = 9;  // 1 GiB
constexpr std::uint32_t kGiantPages = 1U << kGiantOrder;

constexpr std::uint32_t order_pages(unsigned order) {
  return 1U << order;
}

std::uint32_t whole_pages(Bytes size) {
  return static_cast<std::uint32_t>(std::min<Bytes>(size / kPageSize, 1U << 30));
}

// The largest aligned block that begins at `page` and has at most `count` pages.
unsigned order_at(std::uint32_t page, std::uint32_t count) {
  const unsigned by_size = floor_log2(count);
  const unsigned by_address = page == 0 ? kMaxOrder : static_cast<unsigned>(__builtin_ctz(page));
  return std::min({by_size, by_address, kMaxOrder});
}

}  // namespace

BuddyAllocator::BuddyAllocator(Bytes size)
    : pages_(whole_pages(size)),
      leaves_(1U << ceil_log2(std::max<Page>(pages_, 1))),
      first_(leaves_ - pages_),
      next_(leaves_, kNone),
      previous_(leaves_, kNone),
      free_order_(leaves_, kNotFree),
      allocated_(leaves_, 0),
      runs_(leaves_) {
  heads_.fill(kNone);
  for (Page page = first_; page < leaves_;) {
    const unsigned order = order_at(page, leaves_ - page);
    push(page, order);
    runs_.update_above(page, order);
    page += Page{1} << order;
  }
  free_pages_ = pages_;
}

Result<DeviceMemory> BuddyAllocator::allocate(Bytes size) {
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "allocation of 0 bytes");
  const auto reserved = checked_align_up(size, kPageSize);
  if (!reserved || *reserved / kPageSize > free_pages_) return out_of_memory(size);
  const Page count = static_cast<Page>(*reserved / kPageSize);
  Page page = find_block(count);
  if (page == kNone) {
    page = runs_.find(count);
    if (page == kNone) return out_of_memory(size);
    take_run(page, count);
  }
  allocated_[page] = count;
  free_pages_ -= count;
  ++allocations_;
  return DeviceMemory{DeviceAddress{Bytes{page - first_} * kPageSize}, size, *reserved};
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

Status BuddyAllocator::free(DeviceAddress address) {
  const Bytes index = address.value / kPageSize;
  if (!is_aligned(address.value, kPageSize) || index >= pages_ || allocated_[first_ + index] == 0) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no allocation begins at device address {:#x}", address.value));
  }
  Page page = first_ + static_cast<Page>(index);
  Page count = allocated_[page];
  allocated_[page] = 0;
  free_pages_ += count;
  --allocations_;
  while (count > 0) {
    const unsigned order = order_at(page, count);
    release(page, order);
    page += Page{1} << order;
    count -= Page{1} << order;
  }
  return {};
}

std::vector<DeviceMemory> BuddyAllocator::allocations() const {
  std::vector<DeviceMemory> all;
  all.reserve(allocations_);
  for (Page page = first_; page < leaves_; ++page) {
    const Bytes size = Bytes{allocated_[page]} * kPageSize;
    if (size != 0) all.push_back({DeviceAddress{Bytes{page - first_} * kPageSize}, size, size});
  }
  return all;
}

MemoryStatistics BuddyAllocator::statistics() const {
  MemoryStatistics result;
  result.total = Bytes{pages_} * kPageSize;
  result.free = Bytes{free_pages_} * kPageSize;
  result.largest_free_block = Bytes{runs_.longest()} * kPageSize;
  result.huge_pages_free = free_pages_;
  // A block begins at an aligned address if all do; else it loses parts of a GiB at both ends.
  const Page lost = first_ % kGiantPages == 0 ? 0 : 1;
  for (unsigned order = kGiantOrder; order <= kMaxOrder; ++order) {
    result.giant_pages_free +=
        std::uint64_t{counts_[order]} * ((order_pages(order) >> kGiantOrder) - lost);
  }
  result.allocations = allocations_;
  result.splits = splits_;
  result.merges = merges_;
  return result;
}

tl::unexpected<Error> BuddyAllocator::out_of_memory(Bytes size) const {
  const auto now = statistics();
  return fail(ErrorCode::kOutOfMemory,
              fmt::format("{} bytes of device memory requested, {} free, largest free block {}",
                          size, now.free, now.largest_free_block));
}

// Takes `count` pages from the smallest free block that holds them, or returns kNone.
BuddyAllocator::Page BuddyAllocator::find_block(Page count) {
  const unsigned order = ceil_log2(count);
  if (order > kMaxOrder) return kNone;
  const std::uint32_t fitting = non_empty_ >> order << order;
  if (fitting == 0) return kNone;
  const unsigned from = static_cast<unsigned>(__builtin_ctz(fitting));
  const Page page = heads_[from];
  take(page, from, count);
  return page;
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

// Cuts the first `count` pages out of the free block at `page`; the rest stays free.
void BuddyAllocator::take(Page page, unsigned order, Page count) {
  while (count < Page{1} << order) {
    split(page, order);
    --order;
    if (count > Page{1} << order) {
      remove(page, order);
      runs_.set(page, order, false);
      page += Page{1} << order;
      count -= Page{1} << order;
    }
  }
  remove(page, order);
  runs_.set(page, order, false);
  // The left neighbours taken on the way lie below the same ancestors.
  runs_.update_above(page, order);
}

// `page` is the first of a run of at least `count` free pages, so a free block begins there.
void BuddyAllocator::take_run(Page page, Page count) {
  while (count > 0) {
    const unsigned order = free_order_[page];
    const Page taken = std::min(count, Page{1} << order);
    take(page, order, taken);
    page += taken;
    count -= taken;
  }
}

void BuddyAllocator::split(Page page, unsigned order) {
  remove(page, order);
  const unsigned half = order - 1;
  push(page + (Page{1} << half), half);
  push(page, half);
  ++splits_;
}

// Puts a block back and merges it with its buddy as long as that is free as a whole.
void BuddyAllocator::release(Page page, unsigned order) {
  while (order < kMaxOrder) {
    const Page buddy = page ^ (Page{1} << order);
    if (buddy >= leaves_ || free_order_[buddy] != order) break;
    remove(buddy, order);
    page = std::min(page, buddy);
    ++order;
    ++merges_;
  }
  push(page, order);
  runs_.update_above(page, order);
}

void BuddyAllocator::push(Page page, unsigned order) {
  next_[page] = heads_[order];
  previous_[page] = kNone;
  if (heads_[order] != kNone) previous_[heads_[order]] = page;
  heads_[order] = page;
  non_empty_ |= 1U << order;
  ++counts_[order];
  free_order_[page] = static_cast<std::uint8_t>(order);
  runs_.set(page, order, true);
}

void BuddyAllocator::remove(Page page, unsigned order) {
  --counts_[order];
  const Page before = previous_[page];
  const Page after = next_[page];
  if (before == kNone) {
    heads_[order] = after;
    if (after == kNone) non_empty_ &= ~(1U << order);
  } else {
    next_[before] = after;
  }
  if (after != kNone) previous_[after] = before;
  free_order_[page] = kNotFree;
}

}  // namespace npu::driver
