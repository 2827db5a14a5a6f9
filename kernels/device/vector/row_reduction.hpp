// SPDX-License-Identifier: Apache-2.0
// A number of each row of fp32 in UB, as the library of operators reduces: halves onto each other
// down to a repeat, and one reducing instruction (docs/sources/kernel-times.md K31). The
// instructions are made once: between them the scalar unit has no time to spare.
#pragma once

#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

struct Reduction {
  VectorOp fold, last;
};
inline constexpr Reduction kSum{VectorOp::kAdd, VectorOp::kReduceSum};
inline constexpr Reduction kLargest{VectorOp::kMax, VectorOp::kReduceMax};

class RowReduction {
 public:
  // Of tiles of that shape; from() says where they are. `scratch`: half of each row at the tile's
  // pitch; what is there is lost. It may be where the rows are.
  RowReduction(const Reduction& how, const RowTile& tile, std::uint32_t scratch,
               std::uint32_t numbers)
      : tile_(tile), scratch_(scratch) {
    std::uint32_t left = tile_.columns;
    if (left > kRepeat) {
      std::uint32_t body = kRepeat;
      while (body * 2 <= left) body *= 2;
      const std::uint32_t half = body / 2, tail = left - body;
      fold(how.fold, 0, half, half);
      fold(how.fold, scratch_, body, std::min(tail, half));
      if (tail > half) fold(how.fold, scratch_, body + half, tail - half);
      loads_ = count_;
      for (left = half; left > kRepeat; left /= 2) {
        fold(how.fold, scratch_, 0, left / 2);
        steps_[count_ - 1].b = scratch_ + left / 2 * kBytes;
      }
    }
    Vector& last = steps_[count_++];
    last = row_vector(how.last, DataType::kFp32, numbers, scratch_, tile_.rows, left);
    last.a_pitch = tile_.pitch * kBytes;
    last.to_pitch = 0;
  }

  // The numbers of the rows at `from`.
  void issue(AicorePort& port, std::uint32_t from) {
    if (loads_ == 0) steps_[0].a = from;
    for (unsigned i = 0; i < loads_; ++i) steps_[i].b = from + offsets_[i];
    if (loads_ != 0) steps_[0].a = from;
    for (unsigned i = 0; i < count_; ++i) port.issue(steps_[i]);
  }

 private:
  static constexpr std::uint32_t kBytes = size_of(DataType::kFp32);
  static constexpr unsigned kMost = 20;  // of a row of all of UB
  // scratch = a op the elements from `second` on, of each row `count`.
  void fold(VectorOp op, std::uint32_t a, std::uint32_t second, std::uint32_t count) {
    if (count == 0) return;
    if (count_ < kLoads) offsets_[count_] = second * kBytes;
    Vector& v = steps_[count_++];
    v = row_vector(op, DataType::kFp32, scratch_, a, tile_.rows, count);
    v.to_pitch = v.a_pitch = v.b_pitch = tile_.pitch * kBytes;
  }

  static constexpr unsigned kLoads = 3;
  const RowTile tile_;
  const std::uint32_t scratch_;
  Vector steps_[kMost];
  std::uint32_t offsets_[kLoads] = {};
  unsigned count_ = 0;
  unsigned loads_ = 0;  // the first ones, which read the rows
};

}  // namespace npu::kernels::vector
