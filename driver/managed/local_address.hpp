// SPDX-License-Identifier: Apache-2.0
// Places in memory of cards, as page copies name them.
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"

namespace npu::driver {

// Device-local: in the card's own memory, without an address space.
struct LocalAddress {
  std::uint64_t value = 0;

  friend constexpr LocalAddress operator+(LocalAddress a, Bytes offset) {
    return LocalAddress{a.value + offset};
  }
};
// PageTableEntry::peer_target() and the offset in the page: a place in another card's memory.
struct PeerTarget {
  std::uint64_t value = 0;
};

}  // namespace npu::driver
