// SPDX-License-Identifier: Apache-2.0
// Device virtual addresses of all address spaces in one: VMID << 48 | address.
#pragma once

#include <cstdint>

#include "npu/abi/page_table.hpp"

namespace npu::model {

using TaggedAddress = std::uint64_t;

constexpr TaggedAddress tagged_address(std::uint64_t vmid, std::uint64_t address) {
  return vmid << abi::kVirtualBits | address;
}

// What an invalidation covers; both ends belong to it.
struct TaggedRange {
  TaggedAddress first, last;

  // Whether it has an address in common with those that give `tag` when shifted right by `shift`.
  constexpr bool overlaps(std::uint64_t tag, unsigned shift) const {
    return first >> shift <= tag && tag <= last >> shift;
  }
};

inline constexpr TaggedRange kEverything{0, UINT64_MAX};
inline constexpr TaggedRange kNothing{UINT64_MAX, UINT64_MAX};  // no VMID is that large

}  // namespace npu::model
