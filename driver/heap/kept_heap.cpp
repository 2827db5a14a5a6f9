// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/kept_heap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/heap/heap_room.hpp"
#include "npu/base/checked.hpp"

namespace npu::driver {
namespace {

constexpr Bytes kLongestKept = Bytes{1} << 42;  // a window of addresses has no longer range

}  // namespace

KeptHeap::KeptHeap(AddressSpace& space) : space_(space), room_(std::make_unique<HeapRoom>()) {}

KeptHeap::~KeptHeap() = default;

Result<DeviceAddress> KeptHeap::allocate(Bytes size) {
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "an allocation of 0 bytes");
  if (size > kLongestKept) {
    return fail(ErrorCode::kOutOfMemory, fmt::format("{} bytes: no card has as much", size));
  }
  const Bytes taken = align_down(size + kGrain - 1, kGrain);
  auto at = room_->find(taken);
  if (!at) {
    if (auto ok = add_range(align_down(taken + kPageSize - 1, kPageSize)); !ok) {
      return forward_error(ok);
    }
    at = room_->find(taken);
  }
  room_->take(*at, taken);
  return DeviceAddress{*at};
}

// A short range, where there is no memory for a long one.
Status KeptHeap::add_range(Bytes size) {
  Bytes range = std::max(size, std::min(pages_, kMostOfRange));
  auto memory = space_.allocate(range);
  if (!memory && memory.error().code == ErrorCode::kOutOfMemory && size < range) {
    range = size;
    memory = space_.allocate(range);
  }
  if (!memory) return forward_error(memory);
  ranges_[memory->address.value] = range;
  room_->add_range(memory->address.value, range);
  pages_ += range;
  return {};
}

void KeptHeap::free(DeviceAddress address, Bytes size) {
  room_->give(address.value, align_down(size + kGrain - 1, kGrain));
}

Status KeptHeap::trim() {
  Status first;
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    const auto [begin, size] = *range;
    const auto run = room_->free_runs().find(begin);
    const bool is_free = run != room_->free_runs().end() && run->second == begin + size;
    const auto gone = is_free ? space_.free(DeviceAddress{begin}) : Status();
    if (!gone && first) first = gone;
    if (!is_free || !gone) {
      ++range;
      continue;
    }
    room_->remove_range(begin, size);
    pages_ -= size;
    range = ranges_.erase(range);
  }
  return first;
}

}  // namespace npu::driver
