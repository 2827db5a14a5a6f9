// SPDX-License-Identifier: Apache-2.0
// The weights of a tile of scores, relative to the largest score of its rows so far, and what that
// makes of the largest, of the sums and of the output so far. Numbers are fp32, one for each row.
#pragma once

#include "kernels/device/attention/mask.hpp"

namespace npu::kernels::attention {

class RowSoftmax {
 public:
  RowSoftmax(AicorePort& port, const Work& w, const RowSpace& ub) : port_(port), w_(w), ub_(ub) {}

  // Of the task that the step is of, and of the step.
  std::uint32_t largest(const Step& step) const { return ub_.number(step.tasks % 2); }
  std::uint32_t sums(const Step& step) const { return ub_.number(2 + step.tasks % 2); }
  std::uint32_t factors(const Step& step) const { return ub_.number(4 + step.count % 2); }

  // `scores`, of `kType`, become weights in place; `at`: of the tile's first row among the core's.
  template <DataType kType>
  void weigh(const Step& step, std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
             std::uint32_t at, const Mask& mask, std::uint32_t task_row) const {
    const std::uint32_t keys = step.keys;
    on<kType>(VectorOp::kMuls, scores, pitch, rows, keys, w_.scale);
    mask.apply(step, task_row, rows, scores, pitch, kType);
    const std::uint32_t numbers = ub_.number(6) + 4 * at, now = ub_.number(7) + 4 * at;
    const std::uint32_t narrow = ub_.number(8) + 4 * at;
    reduce<kType>(VectorOp::kReduceMax, VectorOp::kMax, numbers, narrow, scores, pitch, rows, keys);
    // It is finite: where nothing is seen weights are 0, not no numbers.
    number_op(port_, VectorOp::kMaxs, numbers, numbers, 0, rows, -kLargest<kType>);
    bring_together(step, numbers, rows, at);
    const std::uint32_t largest = this->largest(step) + 4 * at;
    std::uint32_t subtracted = largest;
    if (kType != DataType::kFp32) {
      subtracted = narrow;
      convert_rows(port_, narrow, kType, largest, DataType::kFp32, 1, rows);
    }
    Vector sub = row_vector(VectorOp::kBroadcastSub, kType, scores, scores, rows, keys);
    sub.a_pitch = sub.to_pitch = pitch;
    sub.b = subtracted;
    port_.issue(sub);
    on<kType>(kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, scores, pitch,
              rows, keys, 0);
    reduce<kType>(VectorOp::kReduceSum, VectorOp::kAdd, now, narrow, scores, pitch, rows, keys);
    const std::uint32_t sums = this->sums(step) + 4 * at;
    if (!step.first) {
      number_op(port_, VectorOp::kMul, sums, sums, factors(step) + 4 * at, rows);
      number_op(port_, VectorOp::kAdd, sums, sums, now, rows);
    } else {
      number_op(port_, VectorOp::kAdds, sums, now, 0, rows, 0);
    }
  }

 private:
  template <DataType kType>
  static constexpr float kLargest = kType == DataType::kFp16 ? 65504.0F : 3.402823466e38F;

  // Sums and output so far are relative to a smaller largest score.
  void bring_together(const Step& step, std::uint32_t numbers, std::uint32_t rows,
                      std::uint32_t at) const {
    const std::uint32_t largest = this->largest(step) + 4 * at, factor = factors(step) + 4 * at;
    if (step.first) return number_op(port_, VectorOp::kAdds, largest, numbers, 0, rows, 0);
    number_op(port_, VectorOp::kMax, numbers, largest, numbers, rows);
    number_op(port_, VectorOp::kSub, factor, largest, numbers, rows);
    number_op(port_, kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, factor,
              factor, 0, rows);
    number_op(port_, VectorOp::kAdds, largest, numbers, 0, rows, 0);
  }
  template <DataType kType>
  void on(VectorOp op, std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
          std::uint32_t keys, float scalar) const {
    Vector v = row_vector(op, kType, scores, scores, rows, keys);
    v.a_pitch = v.to_pitch = pitch;
    v.scalar = scalar;
    port_.issue(v);
  }
  // A number of each row, into fp32. Halves are brought together until a row is one repeat, which
  // a reduction of all rows takes as one.
  template <DataType kType>
  void reduce(VectorOp op, VectorOp halves, std::uint32_t numbers, std::uint32_t narrow,
              std::uint32_t scores, std::uint32_t pitch, std::uint32_t rows,
              std::uint32_t keys) const {
    constexpr auto kSize = static_cast<std::uint32_t>(platform::bytes_of(kType));
    constexpr std::uint32_t kRepeat = 256;
    std::uint32_t from = scores;
    while (keys * kSize > kRepeat && keys * kSize / 2 % aicore::kLocalAlignment == 0) {
      keys /= 2;
      Vector half = row_vector(halves, kType, ub_.folded, from, rows, keys);
      half.b = from + keys * kSize;
      half.a_pitch = half.b_pitch = from == scores ? pitch : ub_.folded_row;
      half.to_pitch = ub_.folded_row;
      port_.issue(half);
      from = ub_.folded;
    }
    Vector v = row_vector(op, kType, kType == DataType::kFp32 ? numbers : narrow, from, rows, keys);
    v.a_pitch = from == scores ? pitch : ub_.folded_row;
    v.to_pitch = 0;
    port_.issue(v);
    if (kType == DataType::kFp32) return;
    convert_rows(port_, numbers, DataType::kFp32, narrow, kType, 1, rows);
  }

  AicorePort& port_;
  const Work& w_;
  const RowSpace& ub_;
};

}  // namespace npu::kernels::attention
