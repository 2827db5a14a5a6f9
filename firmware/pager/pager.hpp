// SPDX-License-Identifier: Apache-2.0
// Serves page faults: takes memory for a page, asks the driver for what is in it, writes the page
// table and has the access walked again; takes pages back when memory is short (abi/pager.hpp).
#pragma once

#include "firmware/pager/slot_table.hpp"
#include "firmware/pager/window.hpp"

namespace npu::firmware {

class Pager {
 public:
  explicit Pager(platform::AicpuPort& port)
      : port_(port), window_(port), slots_(port, port.arguments()) {}

  // Until the driver says so.
  void run();

 private:
  // False: nothing was to be done.
  bool step();
  void take_message();
  void take_fault();
  void replied(abi::PagerVerdict verdict);
  void take_back(std::uint32_t slot);
  bool is_short() const;
  bool may_evict() const {
    return is_short() && slots_.free() + leaving_ < slots_.arguments().high;
  }
  void evict();
  // Takes the page out of the tables; whether it had been written.
  bool unmap(const abi::PagerSlot& held);
  bool was_used(const abi::PagerSlot& held);
  void forget_translations();
  void tell(abi::PagerMessage kind, std::uint32_t slot, const abi::PagerSlot& held,
            std::uint64_t flags);

  platform::AicpuPort& port_;
  Window window_;
  SlotTable slots_;
  bool stopped_ = false;
  bool asked_ = false;  // the driver for `fault_`
  PageFault fault_;
  std::uint32_t slot_ = abi::kNoSlot;  // for it
  bool pressed_ = false;               // no memory for more slots
  bool swap_failed_ = false;   // the driver cannot bring pages home: it answers for the next fault
  std::uint32_t leaving_ = 0;  // slots whose pages the driver brings home
  std::uint32_t spaces_ = 0;   // bit v: Young was cleared in VMID v, translations not dropped since
  bool look_due_ = true;       // not before next_look_, ticks of the system counter
  std::uint64_t next_look_ = 0;
  std::uint32_t looked_ = 0;  // pages, since then
};

}  // namespace npu::firmware
