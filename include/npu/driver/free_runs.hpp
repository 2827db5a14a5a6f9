// SPDX-License-Identifier: Apache-2.0
// The longest run of free pages, across blocks, for BuddyAllocator. It is a tree in which a node
// stands for an aligned power of two of pages. Nodes below a block that is free or allocated as a
// whole are not up to date, and no search visits them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace npu::driver {

class FreeRuns {
 public:
  using Page = std::uint32_t;
  static constexpr Page kNone = 0xFFFFFFFF;

  // No page is free at first. `leaves`: number of pages, a power of two.
  explicit FreeRuns(Page leaves) : leaves_(leaves), runs_(std::size_t{2} * leaves, Run{0, 0, 0}) {}

  // Marks the block of 2^order pages at `page` as free or allocated as a whole.
  void set(Page page, unsigned order, bool is_free);
  // Updates the tree above a block after set().
  void update_above(Page page, unsigned order);

  Page longest() const { return runs_[1].longest; }
  // The first page of the lowest run of at least `count` free pages, or kNone.
  Page find(Page count) const;

 private:
  // Free pages of a node: at its start, at its end, and its longest run.
  struct Run {
    Page prefix, suffix, longest;
  };

  std::size_t node(Page page, unsigned order) const { return (leaves_ + page) >> order; }

  Page leaves_;
  std::vector<Run> runs_;  // heap order: node 1 is everything
};

}  // namespace npu::driver
