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

  // A tile of a core's rows in UB; `at`: its first one among them.
  struct Tile {
    std::uint32_t scores, pitch, rows, at;
  };

  // Scores, of `kType`, are scaled, hidden, and become less by the largest of their row so far.
  template <DataType kType>
  void shift(const Step& step, const Tile& tile, const Mask& mask, std::uint32_t task_row) const {
    const std::uint32_t rows = tile.rows, at = tile.at;
    on<kType>(VectorOp::kMuls, tile.scores, tile, step.keys, w_.scale);
    mask.apply(step, task_row, rows, tile.scores, tile.pitch, kType);
    const std::uint32_t numbers = ub_.number(6) + 4 * at, narrow = ub_.number(8) + 4 * at;
    reduce<kType>(VectorOp::kReduceMax, VectorOp::kMax, numbers, narrow, tile, step.keys);
    // It is finite: where nothing is seen weights are 0, not no numbers.
    number_op(port_, VectorOp::kMaxs, numbers, numbers, 0, rows, -kLargest<kType>);
    bring_together(step, numbers, rows, at);
    const std::uint32_t largest = this->largest(step) + 4 * at;
    std::uint32_t subtracted = largest;
    if (kType != DataType::kFp32) {
      subtracted = narrow;
      convert_rows(port_, narrow, kType, largest, DataType::kFp32, 1, rows);
    }
    Vector sub =
        row_vector(VectorOp::kBroadcastSub, kType, tile.scores, tile.scores, rows, step.keys);
    sub.a_pitch = sub.to_pitch = tile.pitch;
    sub.b = subtracted;
    port_.issue(sub);
  }
  // What they are then becomes weights at `to`, rows as far apart.
  template <DataType kType>
  void weigh(const Step& step, const Tile& tile, std::uint32_t to) const {
    const std::uint32_t rows = tile.rows, at = tile.at;
    on<kType>(kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, to, tile,
              step.keys, 0);
    const std::uint32_t now = ub_.number(7) + 4 * at, narrow = ub_.number(8) + 4 * at;
    reduce<kType>(VectorOp::kReduceSum, VectorOp::kAdd, now, narrow, {to, tile.pitch, rows, at},
                  step.keys);
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
  void on(VectorOp op, std::uint32_t to, const Tile& tile, std::uint32_t keys, float scalar) const {
    Vector v = row_vector(op, kType, to, tile.scores, tile.rows, keys);
    v.a_pitch = v.to_pitch = tile.pitch;
    v.scalar = scalar;
    port_.issue(v);
  }
  // A number of each row, into fp32. Halves are brought together until a row is one repeat, which
  // a reduction of all rows takes as one.
  template <DataType kType>
  void reduce(VectorOp op, VectorOp halves, std::uint32_t numbers, std::uint32_t narrow,
              const Tile& tile, std::uint32_t keys) const {
    constexpr auto kSize = static_cast<std::uint32_t>(platform::bytes_of(kType));
    constexpr std::uint32_t kRepeat = 256;
    std::uint32_t from = tile.scores, pitch = tile.pitch;
    while (keys * kSize > kRepeat && keys * kSize / 2 % aicore::kLocalAlignment == 0) {
      keys /= 2;
      Vector half = row_vector(halves, kType, ub_.folded, from, tile.rows, keys);
      half.b = from + keys * kSize;
      half.a_pitch = half.b_pitch = pitch;
      half.to_pitch = ub_.folded_row;
      port_.issue(half);
      from = ub_.folded, pitch = ub_.folded_row;
    }
    const std::uint32_t to = kType == DataType::kFp32 ? numbers : narrow;
    Vector v = row_vector(op, kType, to, from, tile.rows, keys);
    v.a_pitch = pitch;
    v.to_pitch = 0;
    port_.issue(v);
    if (kType == DataType::kFp32) return;
    convert_rows(port_, numbers, DataType::kFp32, narrow, kType, 1, tile.rows);
  }

  AicorePort& port_;
  const Work& w_;
  const RowSpace& ub_;
};

}  // namespace npu::kernels::attention
