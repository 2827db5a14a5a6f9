// SPDX-License-Identifier: Apache-2.0
// The pages of the card's memory that the driver gave to the pager, in its table in device memory.
#pragma once

#include "npu/abi/page_table.hpp"
#include "npu/abi/pager.hpp"
#include "npu/platform/aicpu_port.hpp"

namespace npu::firmware {

class SlotTable {
 public:
  // `address`: of abi::PagerArguments.
  SlotTable(platform::AicpuPort& port, std::uint64_t address);

  const abi::PagerArguments& arguments() const { return arguments_; }
  // How many are free; the first of them, or abi::kNoSlot.
  std::uint32_t free() const { return free_; }
  std::uint32_t first_free() const { return first_free_; }
  // That hold a page.
  std::uint32_t used() const { return used_; }
  bool holds(std::uint32_t slot) { return slot < end_ && get(slot).entry != 0; }
  abi::PagerSlot get(std::uint32_t slot);
  // It is free now.
  void give(std::uint32_t slot);
  // The first free one is no longer free.
  void take();
  // It holds this page, whose table entry is at `entry`.
  void hold(std::uint32_t slot, std::uint64_t address, std::uint64_t vmid, std::uint64_t entry);
  // It holds nothing, and is not free.
  void drop(std::uint32_t slot);
  // The next one that holds a page, around the table; abi::kNoSlot: none does. `wrapped`: it begins
  // anew.
  std::uint32_t next_used(bool& wrapped);

 private:
  void reach(std::uint32_t slot);
  std::uint64_t place(std::uint32_t slot) const {
    return arguments_.slots + sizeof(abi::PagerSlot) * std::uint64_t{slot};
  }

  platform::AicpuPort& port_;
  abi::PagerArguments arguments_;
  std::uint32_t end_ = 0;  // behind the last that was ever given
  std::uint32_t free_ = 0;
  std::uint32_t used_ = 0;
  std::uint32_t first_free_ = abi::kNoSlot;
  std::uint32_t hand_ = 0;  // of the clock
};

}  // namespace npu::firmware
