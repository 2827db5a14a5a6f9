// SPDX-License-Identifier: Apache-2.0
// Parts of UB for the vector cores' part of an attention.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/common/stages.hpp"

namespace npu::kernels::attention {

class Buffers {
 public:
  static constexpr std::uint32_t kParts = 10;
  static constexpr std::uint32_t kGrain = 8 * aicore::kLocalAlignment;
  // Bytes of a part, of which the longest row, of fp32, has to fit into one half.
  static constexpr std::uint32_t space_in(std::uint64_t ub) {
    return static_cast<std::uint32_t>(ub / kParts / kGrain * kGrain);
  }

  explicit Buffers(AicorePort& port) : space_(space_in(port.buffer_size(LocalBuffer::kUb))) {}

  // Rows of so many fp32 that fit into a part.
  std::uint32_t rows(std::uint32_t columns) const {
    return space_ / aicore::row_bytes(columns, DataType::kFp32);
  }
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t second_in(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t out(unsigned i) const { return (2 * kSets + i) * space_; }
  std::uint32_t work() const { return 3 * kSets * space_; }
  std::uint32_t index() const { return (3 * kSets + 1) * space_; }  // 0, 1, 2, ... in fp32
  std::uint32_t mask() const { return index() + space_ / 2; }
  // One fp32 for each row; a set for what is loaded, computed and stored in turn.
  std::uint32_t number(unsigned i, unsigned set) const {
    return (3 * kSets + 2) * space_ + (kSets * i + set) * (space_ / 8);
  }

 private:
  std::uint32_t space_;
};

}  // namespace npu::kernels::attention
