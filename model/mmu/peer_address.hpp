// SPDX-License-Identifier: Apache-2.0
// A function's own address that is another card's memory: as in an entry of a page table, and with
// all bits of the address there (abi/page_copy.hpp).
#pragma once

#include "model/core/transaction.hpp"
#include "npu/abi/page_table.hpp"

namespace npu::model {

struct PeerAddress {
  std::uint64_t address;  // device-local there
  std::uint16_t peer;     // Transaction::peer

  static bool is(std::uint64_t named) { return abi::PageTableEntry{named}.is_peer(); }
  static PeerAddress of(std::uint64_t named) {
    constexpr std::uint64_t kAll = (std::uint64_t{1} << abi::kVirtualBits) - 1;
    return {named & kAll, static_cast<std::uint16_t>(abi::PageTableEntry{named}.card() + 1)};
  }
  std::uint64_t named() const { return abi::PageTableEntry::peer_target(peer - 1U, 0) | address; }
};

}  // namespace npu::model
