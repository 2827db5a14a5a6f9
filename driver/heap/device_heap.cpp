// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "driver/device/address_space_impl.hpp"
#include "driver/heap/heap_room.hpp"
#include "driver/support/impl_of.hpp"
#include "driver/support/spin_lock.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kGiant = Bytes{1} << 30;
constexpr Bytes kRange = kGiant;            // addresses for normal blocks at a time
constexpr Bytes kLongest = Bytes{1} << 42;  // a window of addresses has no longer range

Bytes rounded(Bytes size, Bytes grain) {
  return align_down(size + grain - 1, grain);
}

}  // namespace

DeviceHeap::DeviceHeap(AddressSpace& space)
    : space_(space),
      mutex_(impl_of(space).link.platform().tasks().make_mutex()),
      room_(std::make_unique<HeapRoom>()) {}

DeviceHeap::~DeviceHeap() = default;

Result<HeapBlock> DeviceHeap::allocate(Bytes size, PagePolicy policy, Bytes padding) {
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "an allocation of 0 bytes");
  if (padding > kPageSize) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("a padding of {} bytes", padding));
  }
  if (size > kLongest) {
    return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes: no card has as much", size));
  }
  const MutexHolder holder(*mutex_);
  const bool normal = policy == PagePolicy::kHugeFirst && size <= kMostOfNormal;
  if (normal || policy == PagePolicy::kNormal) return allocate_normal(size, padding);
  const bool giant = policy == PagePolicy::kGiantOnly;
  auto made = allocate_pages(size, padding, giant ? kGiant : kPageSize);
  const bool full = !made && made.error().code == ErrorCode::kOutOfMemory;
  if (!full || policy != PagePolicy::kHugeFirst) return made;
  // Pages that are in use already may have the room; who has refused it has counted that.
  const Bytes taken = rounded(size + padding, kAlignment);
  const auto at = room_->find(taken);
  if (!at) return made;
  const Bytes pages = room_->empty_pages(*at, taken).size;
  const bool fits = pages < rounded(size, kPageSize) && within_quota(pages);
  return fits ? allocate_normal(size, padding) : made;
}

Result<HeapBlock> DeviceHeap::allocate_pages(Bytes size, Bytes padding, Bytes grain) {
  const Bytes whole = rounded(size, grain);
  if (grain == kGiant && space_.memory_statistics().giant_pages_free < whole / kGiant) {
    return fail(ErrorCode::kOutOfMemory, fmt::format("no {} pages of 1 GiB", whole / kGiant));
  }
  if (size + padding > whole) return allocate_padded(size, padding, whole);
  const auto memory = space_.allocate(whole);
  if (!memory) return forward_error(memory);
  return keep(memory->address.value, {size + padding, whole, true, false});
}

Result<HeapBlock> DeviceHeap::allocate_padded(Bytes size, Bytes padding, Bytes whole) {
  if (auto ok = hold_padding(); !ok) return forward_error(ok);
  const auto at = space_.reserve(whole + kPageSize);
  Status ready = at ? back_pages(at->value, whole) : Status(forward_error(at));
  if (ready) {
    ready = space_.map(*at + whole, kPageSize, padding_, 0, Access::kReadWrite);
    if (!ready) static_cast<void>(space_.unmap(*at, whole));
  }
  if (ready) return keep(at->value, {size + padding, whole, true, true});
  if (at) static_cast<void>(space_.release(*at));
  drop_padding();
  return forward_error(ready);
}

Status DeviceHeap::hold_padding() {
  if (padded_ == 0) {
    MemoryOptions options;
    options.counts = false;
    const auto page = space_.create_memory(kPageSize, options);
    if (!page) return forward_error(page);
    padding_ = *page;
  }
  ++padded_;
  return {};
}

void DeviceHeap::drop_padding() {
  if (--padded_ == 0) static_cast<void>(space_.release_memory(padding_));
}

Result<HeapBlock> DeviceHeap::keep(std::uint64_t at, const Block& block) {
  blocks_[at] = block;
  ++use_.blocks;
  use_.size += block.size;
  if (block.own_pages) use_.pages += block.taken;
  return HeapBlock{DeviceAddress{at}, block.size, block.own_pages};
}

Result<HeapBlock> DeviceHeap::allocate_normal(Bytes size, Bytes padding) {
  const Bytes taken = rounded(size + padding, kAlignment);
  const auto at = find_room(taken);
  if (!at) return forward_error(at);
  if (auto ok = back(*at, taken); !ok) return forward_error(ok);
  room_->take(*at, taken);
  return keep(*at, {size + padding, taken, false, false});
}

Result<std::uint64_t> DeviceHeap::find_room(Bytes size) {
  if (const auto at = room_->find(size)) return *at;
  // More than the card has is refused as that, not for want of addresses.
  const Bytes range = std::max(kRange, rounded(size, kPageSize));
  const auto begin = space_.reserve(range);
  if (!begin) return forward_error(begin);
  ranges_[begin->value] = range;
  room_->add_range(begin->value, range);
  return *room_->find(size);
}

// So that nothing leaves the card for what is refused all the same.
bool DeviceHeap::within_quota(Bytes pages) const {
  const auto& quota = space_.quota();
  if (quota == nullptr) return true;
  const auto use = quota->use();
  return pages <= use.limit - std::min(use.limit, use.allocated);
}

// Pages that only the block is in are one piece of memory, those at its ends are others' later.
Status DeviceHeap::back(std::uint64_t at, Bytes size) {
  const auto empty = room_->empty_pages(at, size);
  if (!within_quota(empty.size)) {
    space_.quota()->count_refusal();
    return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes over the client's quota of {}",
                                                     empty.size, space_.quota()->limit()));
  }
  const auto end = empty.begin + empty.size;
  const auto first = std::min(end, rounded(std::max(at, empty.begin), kPageSize));
  const auto last = std::max(first, std::min(end, align_down(at + size, kPageSize)));
  Status status;
  std::uint64_t done = empty.begin;
  for (const auto until : {first, last, end}) {
    if (until == done) continue;
    status = back_pages(done, until - done);
    if (!status) break;
    done = until;
  }
  if (status) {
    use_.pages += empty.size;
  } else if (done != empty.begin) {
    static_cast<void>(space_.unmap(DeviceAddress{empty.begin}, done - empty.begin));
  }
  return status;
}

// The mapping alone keeps the memory.
Status DeviceHeap::back_pages(std::uint64_t begin, Bytes size) {
  const auto memory = space_.create_memory(size);
  if (!memory) return forward_error(memory);
  const auto mapped = space_.map(DeviceAddress{begin}, size, *memory, 0, Access::kReadWrite);
  const auto released = space_.release_memory(*memory);
  return mapped ? released : mapped;
}

Status DeviceHeap::free(DeviceAddress address, const Before& before) {
  const MutexHolder holder(*mutex_);
  const auto found = blocks_.find(address.value);
  if (found == blocks_.end()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("no block of the heap begins at {:#x}", address.value));
  }
  const Block block = found->second;
  const auto status = block.own_pages ? free_pages(address.value, block, before)
                                      : free_normal(address.value, block, before);
  if (!status) return status;
  blocks_.erase(address.value);
  --use_.blocks;
  use_.size -= block.size;
  return {};
}

Status DeviceHeap::free_pages(std::uint64_t at, const Block& block, const Before& before) {
  const DeviceAddress begin{at};
  if (before) before(begin, block.addresses());
  const auto gone = block.padded ? space_.unmap(begin, block.addresses()) : space_.free(begin);
  if (!gone) return gone;
  use_.pages -= block.taken;
  if (!block.padded) return {};
  drop_padding();
  return space_.release(begin);
}

Status DeviceHeap::free_normal(std::uint64_t at, const Block& block, const Before& before) {
  room_->give(at, block.taken);
  const auto empty = room_->empty_pages(at, block.taken);
  if (empty.size == 0) return {};
  const DeviceAddress begin{empty.begin};
  if (before) before(begin, empty.size);
  if (auto ok = space_.unmap(begin, empty.size); !ok) {
    room_->take(at, block.taken);
    return ok;
  }
  use_.pages -= empty.size;
  return {};
}

DeviceHeap::Blocks::const_iterator DeviceHeap::containing(std::uint64_t address) const {
  const auto above = blocks_.upper_bound(address);
  if (above == blocks_.begin()) return blocks_.end();
  const auto block = std::prev(above);
  return address - block->first < block->second.addresses() ? block : blocks_.end();
}

std::optional<HeapBlock> DeviceHeap::find(DeviceAddress address) const {
  const MutexHolder holder(*mutex_);
  const auto block = containing(address.value);
  if (block == blocks_.end() || address.value - block->first >= block->second.size) return {};
  return HeapBlock{DeviceAddress{block->first}, block->second.size, block->second.own_pages};
}

bool DeviceHeap::contains(DeviceAddress address) const {
  const MutexHolder holder(*mutex_);
  const auto above = ranges_.upper_bound(address.value);
  if (above != ranges_.begin()) {
    const auto range = std::prev(above);
    if (address.value - range->first < range->second) return true;
  }
  return containing(address.value) != blocks_.end();
}

HeapUse DeviceHeap::use() const {
  const MutexHolder holder(*mutex_);
  return use_;
}

}  // namespace npu::driver
