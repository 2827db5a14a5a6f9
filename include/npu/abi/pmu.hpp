// SPDX-License-Identifier: Apache-2.0
// Events that an AI Core's PMU counts (core_registers.hpp), in the groups that tools ask for
// (runtime.md A5). A core that has no such event counts kPmuUnknown.
#pragma once

#include <array>
#include <cstdint>

namespace npu::abi {

inline constexpr unsigned kPmuCounters = 8;
inline constexpr std::uint32_t kPmuUnknown = 0xFFFF'FFFF;
inline constexpr std::uint32_t kPmuPipes = 2;  // busy clocks of the pipes; instruction cache

struct PmuGroup {
  std::uint32_t group;
  std::array<std::uint32_t, kPmuCounters> events;  // 0: none
};
inline constexpr std::array<PmuGroup, 7> kPmuGroups = {{
    {1, {0x49, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0}},             // arithmetic
    {kPmuPipes, {0x08, 0x0A, 0x09, 0x0B, 0x0C, 0x0D, 0x55, 0x54}},  // pipes
    {4, {0x15, 0x16, 0x31, 0x32, 0x0F, 0x10, 0x12, 0x13}},          // memory
    {5, {0x1B, 0x1C, 0x21, 0x22, 0x27, 0x28, 0, 0}},                // L0
    {6, {0x64, 0x65, 0x66, 0, 0, 0, 0, 0}},                         // conflicts
    {7, {0x3D, 0x10, 0x13, 0x3E, 0x43, 0x44, 0x37, 0x38}},          // UB
    {8, {0x500, 0x502, 0x504, 0x506, 0x508, 0x50A, 0, 0}},          // L2
}};

// The group's events; a group that there is not is the pipes'.
constexpr const PmuGroup& pmu_group(std::uint32_t group) {
  for (const auto& known : kPmuGroups) {
    if (known.group == group) return known;
  }
  return kPmuGroups[1];
}
static_assert(pmu_group(3).group == kPmuPipes);

}  // namespace npu::abi
