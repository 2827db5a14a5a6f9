// SPDX-License-Identifier: Apache-2.0
#include "firmware/pager/slot_table.hpp"

#include <cstddef>

namespace npu::firmware {

using abi::PagerSlot;

SlotTable::SlotTable(platform::AicpuPort& port, std::uint64_t address) : port_(port) {
  port_.invalidate(address, sizeof arguments_);
  port_.read(address, &arguments_, sizeof arguments_);
}

PagerSlot SlotTable::get(std::uint32_t slot) {
  PagerSlot found;
  port_.read(place(slot), &found, sizeof found);
  return found;
}

// The driver has never written the entries: those that are passed over must say that they hold
// nothing.
void SlotTable::reach(std::uint32_t slot) {
  for (; end_ <= slot; ++end_) port_.store(place(end_) + offsetof(PagerSlot, entry), 8, 0);
}

void SlotTable::give(std::uint32_t slot) {
  if (slot >= arguments_.count) return;
  reach(slot);
  port_.store(place(slot) + offsetof(PagerSlot, page), 8, first_free_);
  first_free_ = slot;
  ++free_;
}

void SlotTable::take() {
  first_free_ =
      static_cast<std::uint32_t>(port_.load(place(first_free_) + offsetof(PagerSlot, page), 8));
  --free_;
}

void SlotTable::hold(std::uint32_t slot, std::uint64_t address, std::uint64_t vmid,
                     std::uint64_t entry) {
  if (slot >= arguments_.count) return;
  reach(slot);
  port_.store(place(slot) + offsetof(PagerSlot, page), 8, PagerSlot::page_of(address, vmid));
  port_.store(place(slot) + offsetof(PagerSlot, entry), 8, entry);
  ++used_;
}

void SlotTable::drop(std::uint32_t slot) {
  port_.store(place(slot) + offsetof(PagerSlot, entry), 8, 0);
  --used_;
}

std::uint32_t SlotTable::next_used(bool& wrapped) {
  if (used_ == 0) return abi::kNoSlot;
  for (;;) {
    wrapped = wrapped || hand_ + 1 >= end_;
    hand_ = hand_ + 1 < end_ ? hand_ + 1 : 0;
    if (port_.load(place(hand_) + offsetof(PagerSlot, entry), 8) != 0) return hand_;
  }
}

}  // namespace npu::firmware
