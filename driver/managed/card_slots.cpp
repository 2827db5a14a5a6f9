// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/card_slots.hpp"

#include <fmt/format.h>

#include <utility>

#include "driver/memory/paging_access.hpp"
#include "npu/abi/pager.hpp"

namespace npu::driver {
namespace {

// Giving memory back can wait.
constexpr Picoseconds kTimeout = 1_us;

}  // namespace

Result<std::uint32_t> CardSlots::create() {
  if (!spare_.empty()) {
    const auto slot = spare_.back();
    spare_.pop_back();
    return slot;
  }
  if (count_ == limit_) {
    return fail(ErrorCode::kOutOfMemory, fmt::format("{} pages of managed memory", limit_));
  }
  const PagingAccess access(memory_, clock_, memory_.loan().longest);
  if (!access) return fail(ErrorCode::kOutOfMemory, "the card's memory is being moved");
  auto& physical = memory_.physical();
  const auto memory = physical.create(kPageSize, true, abi::kVmidPhysical);
  if (!memory) return forward_error(memory);
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const auto slot = unused_.back();
  unused_.pop_back();
  slots_[slot] = {};
  slots_[slot].memory = *memory;
  slots_[slot].address = LocalAddress{physical.find(*memory)->address};
  ++count_;
  return slot;
}

void CardSlots::destroy(std::uint32_t slot) {
  empty(slot);
  auto& held = slots_[slot];
  held.swapped = held.asked = held.taken = held.dirty = false;
  spare_.push_back(slot);
  const PagingAccess access(memory_, clock_, kTimeout);
  if (!access) return;
  for (const auto spare : spare_) release(spare);
  spare_.clear();
}

void CardSlots::release(std::uint32_t slot) {
  memory_.physical().release(slots_[slot].memory, abi::kVmidPhysical);
  slots_[slot] = {};
  unused_.push_back(slot);
  --count_;
}

void CardSlots::fill(std::uint32_t slot, CardPages& pages, std::uint64_t at) {
  auto& held = slots_[slot];
  held.pages = &pages;
  held.at = at;
  held.pinned_until = {};
  held.filled = ++fills_;
  by_age_[held.filled] = slot;
}

void CardSlots::empty(std::uint32_t slot) {
  if (std::exchange(slots_[slot].pages, nullptr) != nullptr) by_age_.erase(slots_[slot].filled);
}

void CardSlots::renew(std::uint32_t slot) {
  auto& held = slots_[slot];
  by_age_.erase(held.filled);
  held.filled = ++fills_;
  by_age_[held.filled] = slot;
}

std::uint32_t CardSlots::oldest(Instant now, const CardPages* pages) const {
  std::uint32_t first = abi::kNoSlot;
  for (const auto& [age, slot] : by_age_) {
    if (pages != nullptr && slots_[slot].pages != pages) continue;
    if (slots_[slot].pinned_until <= now) return slot;
    if (first == abi::kNoSlot) first = slot;
  }
  return first;
}

void CardSlots::destroy_all() {
  const MutexHolder holder(memory_.mutex());
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    if (!(slots_[i].memory == MemoryHandle{})) release(i);
  }
  spare_.clear();
  by_age_.clear();
}

}  // namespace npu::driver
