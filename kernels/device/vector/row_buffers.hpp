// SPDX-License-Identifier: Apache-2.0
// Parts of UB for operators on rows: `space()` bytes each for what is loaded, computed and stored,
// and numbers, one for each row of a tile.
#pragma once

#include "kernels/device/common/stages.hpp"

namespace npu::kernels::vector {

class RowBuffers {
 public:
  explicit RowBuffers(AicorePort& port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / kParts / kGrain * kGrain;
  }
  std::uint32_t space() const { return space_; }
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t second_in(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t out(unsigned i) const { return (2 * kSets + i) * space_; }
  std::uint32_t work() const { return 3 * kSets * space_; }
  std::uint32_t second_work() const { return (3 * kSets + 1) * space_; }
  std::uint32_t third_work() const { return (3 * kSets + 2) * space_; }
  // Rows of fp32 are 32 B at least, a number is 4: those of all rows take an eighth of the space.
  std::uint32_t number(unsigned i) const { return (kParts - 1) * space_ + i * (space_ / 8); }

 private:
  static constexpr std::uint32_t kParts = 3 * kSets + 4;
  static constexpr std::uint32_t kGrain = 8 * aicore::kLocalAlignment;
  std::uint32_t space_ = 0;
};

}  // namespace npu::kernels::vector
