// SPDX-License-Identifier: Apache-2.0
// Tasks whose keys were divided: the outputs of all parts are brought to the largest score of any
// and added up. On vector cores, when all parts are there.
#pragma once

#include "kernels/device/attention/results.hpp"
#include "kernels/device/common/stages.hpp"

namespace npu::kernels::attention {

class Combine {
 public:
  Combine(AicorePort& port, const Work& w)
      : port_(port),
        w_(w),
        rows_(rows_in(w, port.buffer_size(LocalBuffer::kUb))),
        number_(aicore::round_up(rows_ * 4, aicore::kLocalAlignment)),
        results_(port, w),
        turns_(port) {}

  // Of a tile that so many bytes take; 0: not one.
  static std::uint32_t rows_in(const Work& w, std::uint64_t ub) {
    const std::uint64_t numbers = 2 * std::uint64_t{w.splits} + 2;
    const std::uint64_t fixed = numbers * aicore::kLocalAlignment;
    const std::uint64_t row = 3 * aicore::row_bytes(w.head, DataType::kFp32) + 4 * numbers;
    const std::uint64_t rows = ub < fixed ? 0 : (ub - fixed) / row;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, w.rows));
  }
  // Pieces of work: tiles of all tasks.
  static std::uint64_t tiles(const Work& w, std::uint64_t ub) {
    return w.tasks() / w.splits * aicore::divide_up(w.rows, rows_in(w, ub));
  }

  void run() const {
    const std::uint64_t of_task = aicore::divide_up(w_.rows, rows_);
    const std::uint64_t all = w_.tasks() / w_.splits * of_task;
    for (std::uint64_t i = port_.call().block; i < all; i += port_.call().blocks) {
      const auto first = static_cast<std::uint32_t>(i % of_task * rows_);
      tile(i / of_task * w_.splits, first, std::min(rows_, w_.rows - first));
    }
  }

 private:
  // Largest scores of each part, which become its factors; sums; what they become.
  std::uint32_t largest(std::uint32_t part) const { return part * number_; }
  std::uint32_t sums(std::uint32_t part) const { return (w_.splits + part) * number_; }
  std::uint32_t whole_largest() const { return 2 * w_.splits * number_; }
  std::uint32_t whole_sum() const { return whole_largest() + number_; }
  std::uint32_t output() const { return whole_sum() + number_; }
  std::uint32_t part_output() const {
    return output() + rows_ * aicore::row_bytes(w_.head, DataType::kFp32);
  }
  std::uint32_t result() const {
    return part_output() + rows_ * aicore::row_bytes(w_.head, DataType::kFp32);
  }

  void tile(std::uint64_t task, std::uint32_t first, std::uint32_t rows) const {
    turns_.begin();
    for (std::uint32_t part = 0; part < w_.splits; ++part) {
      const std::uint64_t at = (task + part) * w_.rows + first;
      load_rows(port_, largest(part), {w_.numbers, 0}, {0, at, 1, rows}, DataType::kFp32);
      load_rows(port_, sums(part), {w_.numbers, 0}, {0, w_.tasks() * w_.rows + at, 1, rows},
                DataType::kFp32);
    }
    turns_.loaded();
    make_factors(rows);
    const AreaTile area{0, 0, rows, w_.head};
    for (std::uint32_t part = 0; part < w_.splits; ++part) {
      const std::uint32_t to = part == 0 ? output() : part_output();
      load_part((task + part) * w_.rows + first, rows, to);
      row_op(port_, VectorOp::kBroadcastMul, to, to, largest(part), area);
      if (part > 0) tile_op(port_, VectorOp::kAdd, output(), output(), to, area);
    }
    const std::uint32_t to = kTypeC == DataType::kFp32 ? output() : result();
    results_.divide(whole_sum(), output(), to, rows);
    turns_.computed();
    results_.store(w_.task(task), first, rows, to);
    turns_.stored();
  }
  void make_factors(std::uint32_t rows) const {
    const auto op = [&](VectorOp operation, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
      number_op(port_, operation, to, a, b, rows);
    };
    op(VectorOp::kCopy, whole_largest(), largest(0), 0);
    for (std::uint32_t part = 1; part < w_.splits; ++part) {
      op(VectorOp::kMax, whole_largest(), whole_largest(), largest(part));
    }
    for (std::uint32_t part = 0; part < w_.splits; ++part) {
      op(VectorOp::kSub, largest(part), largest(part), whole_largest());
      op(kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, largest(part),
         largest(part), 0);
      op(VectorOp::kMul, sums(part), sums(part), largest(part));
      op(part == 0 ? VectorOp::kCopy : VectorOp::kAdd, whole_sum(),
         part == 0 ? sums(0) : whole_sum(), sums(part));
    }
  }
  void load_part(std::uint64_t row, std::uint32_t rows, std::uint32_t to) const {
    const aicore::Flag<Pipe::kVector, Pipe::kMte2> taken(port_, 1);
    const aicore::Flag<Pipe::kMte2, Pipe::kVector> full(port_, 1);
    taken.set();
    taken.wait();
    load_rows(port_, to, {w_.parts, w_.head}, {row, 0, rows, w_.head}, DataType::kFp32);
    full.set();
    full.wait();
  }

  AicorePort& port_;
  const Work& w_;
  const std::uint32_t rows_, number_;
  const Results results_;
  const Turns turns_;
};

}  // namespace npu::kernels::attention
