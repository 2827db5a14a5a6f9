// SPDX-License-Identifier: Apache-2.0
// A tree that knows the longest run of free pages, across the borders of the blocks of a
// BuddyAllocator. A node stands for an aligned power of two of pages. Below a block that is free or
// taken as a whole nothing is kept up to date: the search never goes there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::driver {

class FreeRuns {
 public:
  using Page = std::uint32_t;
  static constexpr Page kNone = 0xFFFFFFFF;

  // None of the pages is free. `leaves`: a power of two.
  explicit FreeRuns(Page leaves) : leaves_(leaves), runs_(std::size_t{2} * leaves, Run{0, 0, 0}) {}

  // A block of 2^order pages that begins at `page` is free or taken as a whole.
  void set(Page page, unsigned order, bool is_free);
  // After set() of the block: what lies above it in the tree.
  void update_above(Page page, unsigned order);

  Page longest() const { return runs_[1].longest; }
  // The first page of the lowest run of at least `count` free pages, or kNone.
  Page find(Page count) const;

 private:
  // Free pages of an aligned power of two of pages: at its start, at its end, longest run.
  struct Run {
    Page prefix, suffix, longest;
  };

  std::size_t node(Page page, unsigned order) const { return (leaves_ + page) >> order; }

  Page leaves_;
  std::vector<Run> runs_;  // heap order: node 1 is everything
};

}  // namespace npu::driver
