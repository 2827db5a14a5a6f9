// SPDX-License-Identifier: Apache-2.0
// Helpers for kernels on vector cores: parts of UB, and a block's part of the rows.
#pragma once

#include <algorithm>

#include "npu/aicore/kernel.hpp"

namespace npu::aicore {

// Allocates consecutive parts of UB.
class UbParts {
 public:
  std::uint32_t take(std::uint32_t bytes) {
    const std::uint32_t at = next_;
    next_ += round_up(bytes, kLocalAlignment);
    return at;
  }
  std::uint32_t used() const { return next_; }

 private:
  std::uint32_t next_ = 0;
};

// No buffer holds a longer row. Sizes of shorter ones fit into 32 bits.
inline constexpr std::uint32_t kLongestRow = 1U << 16;

// Calls run(first, rows) for the rows of the block, at most `piece` rows each.
template <class Run>
void for_rows(const platform::KernelCall& call, std::uint32_t rows, std::uint32_t piece, Run run) {
  const auto border = [&](std::uint64_t block) {
    return static_cast<std::uint32_t>(rows * block / call.blocks);
  };
  const std::uint32_t end = border(std::uint64_t{call.block} + 1);
  for (std::uint32_t first = border(call.block); first < end; first += piece) {
    run(first, std::min(piece, end - first));
  }
}

}  // namespace npu::aicore
