// SPDX-License-Identifier: Apache-2.0
// Address spaces of device memory as the engines number them, over all functions of a card. A
// function has kVmids of them side by side, which its driver calls VMID 0, 1, ...; the first of
// them are the function's own physical addresses.
#pragma once

#include <cstdint>

#include "npu/abi/page_table.hpp"

namespace npu::model {

using SpaceId = std::uint16_t;

inline constexpr unsigned kMaxFunctions = 256;  // of a bus

constexpr SpaceId space_of(unsigned function, unsigned vmid) {
  return static_cast<SpaceId>(function * abi::kVmids + vmid);
}
constexpr unsigned function_of(SpaceId space) {
  return space / abi::kVmids;
}
constexpr std::uint8_t vmid_of(SpaceId space) {
  return static_cast<std::uint8_t>(space % abi::kVmids);
}
// Its addresses are not translated, but counted from the start of the function's memory.
constexpr bool is_physical(SpaceId space) {
  return vmid_of(space) == abi::kVmidPhysical;
}

}  // namespace npu::model
