// SPDX-License-Identifier: Apache-2.0
// The points of a sweep by number: every configuration with every value of the grid, every entry of
// the list and every seed. The seed counts fastest, then the list, then the grid from its last key
// to its first, then the configuration.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/sweep/sweep_spec.hpp"

namespace npu::sweep {

struct GridPoint {
  std::size_t number = 0;
  PlacedText configuration;
  std::vector<Assignment> assignments;  // the grid's, then the list's
  PlacedText seed;
};

class Grid {
 public:
  // `spec` outlives the grid and has no more than kMostPoints points.
  explicit Grid(const SweepSpec& spec);
  std::size_t size() const { return size_; }
  GridPoint point(std::size_t number) const;  // number < size()
  // What tells the point from others: "sizes=64B, link.generation=5".
  std::string label(const GridPoint& point) const;

 private:
  const SweepSpec& spec_;
  std::size_t size_ = 1;
};

}  // namespace npu::sweep
