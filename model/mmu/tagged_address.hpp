// SPDX-License-Identifier: Apache-2.0
// Device virtual addresses of all address spaces of a card in one: space << 48 | address. A space
// says whose it is (core/space_id.hpp), so what is kept under such addresses is a function's alone.
#pragma once

#include <cstdint>

#include "model/core/space_id.hpp"

namespace npu::model {

using TaggedAddress = std::uint64_t;

constexpr TaggedAddress tagged_address(SpaceId space, std::uint64_t address) {
  return std::uint64_t{space} << abi::kVirtualBits | address;
}
constexpr SpaceId space_of_tagged(TaggedAddress address) {
  return static_cast<SpaceId>(address >> abi::kVirtualBits);
}

// What an invalidation covers; both ends belong to it.
struct TaggedRange {
  TaggedAddress first, last;

  // Whether it has an address in common with those that give `tag` when shifted right by `shift`.
  constexpr bool overlaps(std::uint64_t tag, unsigned shift) const {
    return first >> shift <= tag && tag <= last >> shift;
  }
};

inline constexpr TaggedRange kNoAddresses{UINT64_MAX, UINT64_MAX};  // no address is that large

// All that belongs to `count` spaces from `first` on.
constexpr TaggedRange all_of_spaces(SpaceId first, unsigned count) {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << abi::kVirtualBits) - 1;
  return {tagged_address(first, 0), tagged_address(static_cast<SpaceId>(first + count - 1), kLast)};
}
constexpr TaggedRange all_of_function(unsigned function) {
  return all_of_spaces(space_of(function, 0), abi::kVmids);
}

}  // namespace npu::model
