// SPDX-License-Identifier: Apache-2.0
// Device memory as the allocator hands it out (requirements.md M2).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

inline constexpr Bytes kPageSize = Bytes{2} << 20;  // 2 MiB: the grain of the TLB
inline constexpr unsigned kMaxOrder = 16;           // 2 MiB << 16 = 128 GiB

// 2 MiB aligned, in virtual and in physical memory contiguous. BuddyAllocator's are device-local
// addresses, all others are virtual ones.
struct DeviceMemory {
  DeviceAddress address;
  Bytes size = 0;      // as requested
  Bytes reserved = 0;  // rounded up to whole pages
};

struct MemoryStatistics {
  Bytes total = 0;
  Bytes free = 0;
  Bytes quarantined = 0;               // neither: the card may still use it, see Device::compact()
  Bytes largest_free_block = 0;        // the largest request that would succeed without compaction
  std::uint64_t huge_pages_free = 0;   // free pages of 2 MiB
  std::uint64_t giant_pages_free = 0;  // free aligned GiBs: what giant pages can map
  std::uint64_t allocations = 0;       // live ones
  std::uint64_t splits = 0;            // buddy steps since the device was opened
  std::uint64_t merges = 0;

  Bytes used() const { return total - free - quarantined; }
  // 0: all free memory is one block; 999: nearly all of it is elsewhere. Unit: 1/1000.
  unsigned fragmentation_permille() const {
    return free == 0 ? 0 : static_cast<unsigned>((free - largest_free_block) / (free / 1000 + 1));
  }
};

}  // namespace npu::driver
