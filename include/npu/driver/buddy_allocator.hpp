// SPDX-License-Identifier: Apache-2.0
// Page allocator for device memory (requirements.md M2). Pure bookkeeping: touches no device.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/free_runs.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {

// A buddy allocator over [0, size) in pages of 2 MiB, orders 0..16. Sizes that are no power of two
// are fully usable. A request takes the most recently freed block of the smallest order that holds
// it, the lower half of every split, and gives the tail back. If no single block holds it but
// neighbouring free blocks together do, it takes those, from the lowest such run. Every split and
// merge is O(1) per order step: free blocks are in intrusive lists found by a bitmask, and a tree
// of free runs is kept up to date along the same steps. Same calls, same addresses.
// Blocks are aligned as seen from the end of the memory: the small blocks that make up for a size
// that is no power of two come first, so that small requests leave the large blocks in one piece.
class NPU_API BuddyAllocator {
 public:
  explicit BuddyAllocator(Bytes size);  // rounded down to whole pages

  // kInvalidArgument: size 0. kOutOfMemory: context has requested, free and largest free block.
  Result<DeviceMemory> allocate(Bytes size);
  // Takes the pages at `address`. kInvalidArgument: size 0, not at a page; kOutOfMemory: not all
  // free.
  Result<DeviceMemory> allocate_at(DeviceAddress address, Bytes size);
  // kInvalidArgument: not the address of a live allocation.
  Status free(DeviceAddress address);
  MemoryStatistics statistics() const;

 private:
  using Page = FreeRuns::Page;
  static constexpr Page kNone = FreeRuns::kNone;
  static constexpr std::uint8_t kNotFree = 0xFF;

  void push(Page page, unsigned order);
  void remove(Page page, unsigned order);
  void split(Page page, unsigned order);
  void release(Page page, unsigned order);
  void take(Page page, unsigned order, Page count);
  Page find_block(Page count);
  void take_run(Page page, Page count);
  Page block_around(Page page) const;
  tl::unexpected<Error> out_of_memory(Bytes size) const;

  Page pages_;
  Page leaves_;  // pages_ rounded up to a power of two
  Page first_;   // pages are numbered from here, so that the last one is leaves_ - 1
  Page free_pages_ = 0;
  std::uint32_t non_empty_ = 0;  // bit k: heads_[k] is not kNone
  std::array<Page, kMaxOrder + 1> heads_;
  std::array<std::uint32_t, kMaxOrder + 1> counts_{};  // free blocks
  std::vector<Page> next_, previous_;                  // of a free block's first page
  std::vector<std::uint8_t> free_order_;  // of a free block's first page, else kNotFree
  std::vector<Page> allocated_;           // pages of the allocation that begins here, else 0
  FreeRuns runs_;
  std::uint64_t allocations_ = 0, splits_ = 0, merges_ = 0;
};

}  // namespace npu::driver
