// SPDX-License-Identifier: Apache-2.0
// Events that an AI Core's PMU counts (core_registers.hpp), in the groups that tools ask for
// (runtime.md A5, where the names and the bytes of an access come from, too). A core that has no
// such event counts kPmuUnknown.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

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

// What an event counts: clocks (bytes 0, the name says so), how often something happened (bytes 0),
// or accesses of up to so many bytes.
struct PmuEvent {
  std::uint32_t event;
  std::string_view name;
  std::uint32_t bytes;
};
inline constexpr std::array<PmuEvent, 44> kPmuEvents = {{
    {0x49, "cube_fp16_exec", 0},  // clocks; fp32 and bf16, too
    {0x4A, "cube_int8_exec", 0},
    {0x4B, "vec_fp32_exec", 0},
    {0x4C, "vec_fp16_128lane_exec", 0},
    {0x4D, "vec_fp16_64lane_exec", 0},  // conversions from and to four bytes
    {0x4E, "vec_int32_exec", 0},
    {0x4F, "vec_misc_exec", 0},
    {0x08, "vec_busy_cycles", 0},
    {0x0A, "cube_busy_cycles", 0},
    {0x09, "scalar_busy_cycles", 0},
    {0x0B, "mte1_busy_cycles", 0},
    {0x0C, "mte2_busy_cycles", 0},
    {0x0D, "mte3_busy_cycles", 0},
    {0x55, "icache_miss", 0},
    {0x54, "icache_req", 0},
    {0x15, "ub_read_req", 128},
    {0x16, "ub_write_req", 128},
    {0x31, "l1_read_req", 512},
    {0x32, "l1_write_req", 128},
    {0x0F, "l2_read_req", 256},  // of main_read_req, what the L2 had
    {0x10, "l2_write_req", 256},
    {0x12, "main_read_req", 256},  // of global memory
    {0x13, "main_write_req", 256},
    {0x1B, "l0a_read_req", 512},
    {0x1C, "l0a_write_req", 512},
    {0x21, "l0b_read_req", 512},
    {0x22, "l0b_write_req", 256},
    {0x27, "l0c_read_req", 256},
    {0x28, "l0c_write_req", 256},
    {0x64, "bankgroup_stall_cycles", 0},  // of no model: its buffers have no banks
    {0x65, "bank_stall_cycles", 0},
    {0x66, "vec_resc_conflict_cycles", 0},  // the next vector instruction waited for the unit alone
    {0x3D, "ub_read_bw_mte", 128},
    {0x3E, "ub_write_bw_mte", 128},
    {0x43, "ub_read_bw_vector", 512},
    {0x44, "ub_write_bw_vector", 256},
    {0x37, "ub_read_bw_scalar", 4},
    {0x38, "ub_write_bw_scalar", 4},
    {0x500, "write_cache_hit", 0},  // lines of the L2
    {0x502, "write_cache_miss_allocate", 0},
    {0x504, "r0_read_cache_hit", 0},
    {0x506, "r0_read_cache_miss_allocate", 0},
    {0x508, "r1_read_cache_hit", 0},  // the model's cores have one channel for reads: 0
    {0x50A, "r1_read_cache_miss_allocate", 0},
}};

// The group's events; a group that there is not is the pipes'.
constexpr const PmuGroup& pmu_group(std::uint32_t group) {
  for (const auto& known : kPmuGroups) {
    if (known.group == group) return known;
  }
  return kPmuGroups[1];
}
static_assert(pmu_group(3).group == kPmuPipes);

// Null: no group has such an event.
constexpr const PmuEvent* pmu_event(std::uint32_t event) {
  for (const auto& known : kPmuEvents) {
    if (known.event == event) return &known;
  }
  return nullptr;
}
constexpr bool is_pmu_event(std::uint32_t event) {
  for (const auto& known : kPmuEvents) {
    if (known.event == event) return true;
  }
  return false;
}
constexpr bool are_known(const std::array<PmuGroup, 7>& groups) {
  for (const auto& group : groups) {
    for (const auto event : group.events) {
      if (event != 0 && !is_pmu_event(event)) return false;
    }
  }
  return true;
}
static_assert(are_known(kPmuGroups));

}  // namespace npu::abi
