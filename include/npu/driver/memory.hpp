// SPDX-License-Identifier: Apache-2.0
// Blocks and statistics of device memory (requirements.md M2).
#pragma once

#include <cstdint>

#include "npu/base/units.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

inline constexpr Bytes kPageSize = Bytes{2} << 20;  // 2 MiB: the page of the TLB
inline constexpr unsigned kMaxOrder = 16;           // 2 MiB << 16 = 128 GiB

// A block, aligned to 2 MiB, with contiguous virtual and physical addresses. The address is
// virtual, except from BuddyAllocator, where it is device-local.
struct DeviceMemory {
  DeviceAddress address;
  Bytes size = 0;      // as requested
  Bytes reserved = 0;  // rounded up to whole pages
};

struct MemoryStatistics {
  Bytes total = 0;
  Bytes free = 0;
  Bytes quarantined = 0;               // neither free nor used, see Device::compact()
  Bytes largest_free_block = 0;        // largest request that succeeds without compaction
  std::uint64_t huge_pages_free = 0;   // free pages of 2 MiB
  std::uint64_t giant_pages_free = 0;  // free and aligned GiBs
  std::uint64_t allocations = 0;       // present
  std::uint64_t splits = 0;            // of the buddy allocator since the device was opened
  std::uint64_t merges = 0;

  Bytes used() const { return total - free - quarantined; }
  // Thousandths of the free memory outside of the largest free block, 0 .. 999.
  unsigned fragmentation_permille() const {
    return free == 0 ? 0 : static_cast<unsigned>((free - largest_free_block) / (free / 1000 + 1));
  }
};

}  // namespace npu::driver
