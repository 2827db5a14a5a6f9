// SPDX-License-Identifier: Apache-2.0
// What kernels on vector cores share: pieces of UB, copies of rows, a block's part of the rows.
#pragma once

#include <algorithm>

#include "npu/aicore/kernel.hpp"

namespace npu::aicore {

// Parts of UB, one behind the other.
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

// No core has a buffer for a longer row; shorter ones keep sizes within 32 bits.
inline constexpr std::uint32_t kLongestRow = 1U << 16;

// Calls run(first, rows) for the block's rows, at most `piece` at a time.
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
