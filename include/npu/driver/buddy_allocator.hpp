// SPDX-License-Identifier: Apache-2.0
// Page allocator for device memory (requirements.md M2). The driver uses one for each card; it
// accesses no device. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/free_runs.hpp"
#include "npu/driver/memory.hpp"

namespace npu::driver {

// A buddy allocator over the bytes 0 .. size - 1, in pages of 2 MiB and orders 0 .. kMaxOrder.
// `size` need not be a power of two. An allocation takes the most recently freed block of the
// smallest sufficient order, the lower half of every split, and returns the tail. If no block
// suffices, it takes the lowest run of neighbouring free blocks that does. A split or merge takes
// constant time for each order. The same calls return the same addresses.
// Blocks are aligned from the end of the memory. The small blocks that fill up an uneven size come
// first, so that small allocations leave the large blocks whole.
class NPU_API BuddyAllocator {
 public:
  explicit BuddyAllocator(Bytes size);  // rounded down to whole pages

  // Allocates contiguous pages.
  // kInvalidArgument: size 0.
  // kOutOfMemory: the context has the requested bytes, the free bytes and the largest free block.
  Result<DeviceMemory> allocate(Bytes size);
  // Allocates the pages at `address`.
  // kInvalidArgument: size 0, or `address` is no multiple of 2 MiB.
  // kOutOfMemory: not all are free.
  Result<DeviceMemory> allocate_at(DeviceAddress address, Bytes size);
  // kInvalidArgument: no allocation begins at `address`.
  Status free(DeviceAddress address);
  MemoryStatistics statistics() const;
  // By address; the size is the reserved one.
  std::vector<DeviceMemory> allocations() const;

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
