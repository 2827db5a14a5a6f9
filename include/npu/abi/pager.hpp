// SPDX-License-Identifier: Apache-2.0
// Between the driver and the pager, the program that serves page faults on the control processor
// (control.hpp): messages, and what the program's arguments point to. virtualisation.md S2 has the
// exchange; the layout is npusim's own.
//
// The driver gives pages of the card's memory, each a slot of its numbering. The pager takes one
// for a fault and asks the driver for it; the driver brings the bytes and says what to write into
// the page table; the pager writes it and has the access walked again. Under pressure it takes
// pages back from where they have not been used lately, and tells the driver, who brings the bytes
// home and gives the slot again.
#pragma once

#include <cstdint>

#include "npu/abi/control.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::abi {

enum class PagerMessage : std::uint8_t {
  // To the driver.
  kNone = 0,   // of the card: writes of the driver have been lost (control.hpp)
  kFault = 1,  // wants the page at `address`; `slot` is where it may go
  kSwap = 2,   // the page of `slot` was taken out of the tables, and nobody uses it any more
  kTaken = 3,  // the same, because the driver asked for it (kTakeBack)
  // To the pager.
  kReply = 16,  // to kFault: `verdict`; `entry`: device-local address of the page table entry
  // `slot` is free; `flag` 1: the page of a kSwap has gone from it, or, with kNoSlot, from one that
  // the driver keeps.
  kGive = 17,
  // `slot` holds the page at `address`, mapped by the driver at `entry`; `flag` 1: that of a kSwap,
  // which could not be brought home.
  kAdopt = 18,
  kTakeBack = 19,  // take the page of `slot` out of the tables; kTaken answers
  kPressure = 20,  // `flag` 1: there is no memory for more slots; 0: there is
  kStop = 21,
};

enum class PagerVerdict : std::uint8_t {
  kMap = 0,    // write `value` to `entry`: the page is in the slot
  kRetry = 1,  // it is there already; the slot stays free
  kAbort = 2,  // nobody can serve it; the slot stays free
};

inline constexpr std::uint32_t kNoSlot = 0xFFFF'FFFF;

// Fields of a message's words.
struct PagerHead {  // words[0]
  using Kind = Field<6, 0>;
  using Vmid = Field<11, 7>;
  using Write = Field<12, 12>;      // kFault
  using Forbidden = Field<13, 13>;  // kFault
  using Dirty = Field<14, 14>;      // kSwap, kTaken: written since it was mapped
  using Empty = Field<15, 15>;      // kTaken: the slot held no page
  using Core = Field<31, 16>;       // kFault, as in PageFaultRecord
  using Verdict = Field<17, 16>;    // kReply
  using Flag = Field<16, 16>;       // kPressure, kGive, kAdopt
  using Slot = Field<63, 32>;       // kGive, kTakeBack
};
// words[1]: `address` of kFault, kSwap, kTaken, kAdopt; `entry` of kReply.
// words[2]: `slot` of kFault, kSwap, kTaken, kAdopt in bits 31..0, of kFault also the unit
// (PageFaultUnit) in 39..32; of kReply `value`. words[3]: to the driver, MESSAGE_TAKEN then; of
// kAdopt `entry`. Words of which nothing is said here mean nothing: the driver need not write them.

template <class F>
constexpr std::uint64_t field_of(std::uint64_t word) {
  return (word & F::kMask) >> F::kLow;
}
template <class F>
constexpr std::uint64_t field_at(std::uint64_t value) {
  return value << F::kLow & F::kMask;
}

struct PagerArguments {
  std::uint64_t slots = 0;  // device-local address of the pager's table of them
  std::uint32_t count = 0;  // that there may be
  // Under pressure, with fewer free slots than `low`, pages are taken back until `high` are free.
  std::uint32_t low = 0, high = 0;
  std::uint32_t period_ns = 0;  // at least, between two looks at a page
};
// An entry of that table; the driver need not clear it.
struct PagerSlot {
  // Of what it holds the device virtual address, and the VMID in its low bits; free: number of the
  // next free one.
  std::uint64_t page = 0;
  std::uint64_t entry = 0;  // of the page table, device-local; 0: it holds nothing

  static constexpr std::uint64_t kVmidMask = 0xFFF;
  static constexpr std::uint64_t page_of(std::uint64_t address, std::uint64_t vmid) {
    return address | vmid;
  }
  constexpr std::uint64_t address() const { return page & ~kVmidMask; }
  constexpr unsigned vmid() const { return static_cast<unsigned>(page & kVmidMask); }
};
static_assert(sizeof(PagerSlot) == 16 && sizeof(PagerArguments) == 24);
static_assert(kVmids <= PagerSlot::kVmidMask);

}  // namespace npu::abi
