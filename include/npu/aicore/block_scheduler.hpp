// SPDX-License-Identifier: Apache-2.0
// The order in which matrix kernels compute the tiles of C. Consecutive tiles share rows of A or
// columns of B, which are then in the L2 cache. Tiles are in panels of `offset` tile rows
// (direction 0) or tile columns (1). The order in a panel is across its short side first, and every
// second panel runs backwards (operators.md B3).
#pragma once

#include <algorithm>
#include <cstdint>

namespace npu::aicore {

struct TilePlace {
  std::uint32_t row = 0, column = 0;  // in tiles
};

class BlockScheduler {
 public:
  BlockScheduler(std::uint32_t rows, std::uint32_t columns, std::uint32_t offset,
                 std::uint32_t direction)
      : rows_(rows), columns_(columns), offset_(std::max(offset, 1U)), direction_(direction) {}

  std::uint64_t tiles() const { return std::uint64_t{rows_} * columns_; }

  // The tile number `index`, 0 .. tiles() - 1.
  TilePlace place(std::uint64_t index) const {
    if (direction_ == 0) {
      const Step step = walk(index, rows_, columns_);
      return {step.across, step.along};
    }
    const Step step = walk(index, columns_, rows_);
    return {step.along, step.across};
  }

 private:
  struct Step {
    std::uint32_t across, along;  // positions on the short and the long side of the panel
  };
  Step walk(std::uint64_t index, std::uint32_t across, std::uint32_t along) const {
    const std::uint64_t panel = index / (std::uint64_t{offset_} * along);
    const std::uint64_t inside = index % (std::uint64_t{offset_} * along);
    const auto first = static_cast<std::uint32_t>(panel * offset_);
    const std::uint32_t width = std::min(offset_, across - first);
    const auto position = static_cast<std::uint32_t>(inside / width);
    return {first + static_cast<std::uint32_t>(inside % width),
            panel % 2 == 0 ? position : along - 1 - position};
  }

  std::uint32_t rows_, columns_, offset_, direction_;
};

}  // namespace npu::aicore
