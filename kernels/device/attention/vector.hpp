// SPDX-License-Identifier: Apache-2.0
// A vector core's part of a step, through global memory: the weights of its rows, and later what
// they give with the values, added to the output so far. The next tile is loaded, and the last one
// stored, while one is computed; but the output so far is loaded when all before it is stored.
#pragma once

#include "kernels/device/attention/results.hpp"
#include "kernels/device/attention/softmax.hpp"
#include "kernels/device/attention/vector_buffers.hpp"
#include "kernels/device/common/stages.hpp"

namespace npu::kernels::attention {

class VectorCore {
 public:
  // `role`: 1 or 2 of a cluster's two, which have a half of the rows each; 0: all rows.
  VectorCore(AicorePort& port, const Work& w, unsigned role)
      : port_(port),
        w_(w),
        role_(role),
        ring_(w, port.call().block),
        ub_(w, port.buffer_size(LocalBuffer::kUb), role == 0),
        softmax_(port, w, ub_.space()),
        mask_(port, w, ub_.space()),
        results_(port, w),
        stages_(port) {}

  // Weights.
  void begin(const Step& step) {
    constexpr DataType kType = score_type(false);
    const CoreRows mine(step.task.rows, role_, false);
    Handed<Pipe::kFixpipe, Pipe::kMte2>(port_, Signal::kScores).wait();
    for (std::uint32_t row = 0; row < mine.count; row += ub_.rows()) {
      const std::uint32_t rows = std::min(ub_.rows(), mine.count - row);
      const std::uint64_t at = std::uint64_t{mine.first + row} * w_.chunk;
      const unsigned i = stages_.begin_load();
      load(ub_.place(i), ub_.score_row(), ring_.scores(step) + at * platform::bytes_of(kType), rows,
           step.keys, w_.chunk, kType);
      stages_.loaded(i);
      const RowSoftmax::Tile tile{ub_.place(i), ub_.score_row(), rows, row};
      softmax_.shift<kType>(step, tile, mask_, mine.first + row);
      weigh<kType>(step, tile);
      stages_.consumed(i);
      stages_.computed(0);
      store(ring_.weights(step) + at * kBytes, w_.chunk, ub_.result(), ub_.weight_row(), rows,
            step.keys, kTypeA);
      stages_.stored(0);
    }
    if (mine.count == 0) pass_on();
    Handed<Pipe::kMte3, Pipe::kMte2>(port_, Signal::kWeights).raise();
  }

  // The output so far.
  void end(const Step& step) {
    const CoreRows mine(step.task.rows, role_, false);
    Handed<Pipe::kFixpipe, Pipe::kMte2>(port_, Signal::kProducts).wait();
    for (std::uint32_t row = 0; row < mine.count; row += ub_.output_rows()) {
      const std::uint32_t rows = std::min(ub_.output_rows(), mine.count - row);
      const std::uint64_t at = std::uint64_t{mine.first + row} * w_.head * 4;
      const unsigned now = stages_.begin_load();
      load(ub_.place(now), ub_.output_row(), ring_.products(step) + at, rows, w_.head, w_.head,
           DataType::kFp32);
      unsigned before = now;
      if (!step.first) {
        before = stages_.begin_load();
        let_stores_end();
        load(ub_.place(before), ub_.output_row(), ring_.output() + at, rows, w_.head, w_.head,
             DataType::kFp32);
      }
      stages_.loaded(now);
      if (!step.first) stages_.loaded(before);
      add_up(step, rows, row, now, before);
      stages_.computed(0);
      if (!step.last) {
        store(ring_.output() + at, w_.head, ub_.result(), ub_.output_row(), rows, w_.head,
              DataType::kFp32);
      } else if (w_.splits == 1) {
        results_.store(step.task, mine.first + row, rows, ub_.result());
      } else {
        results_.store_part(step.task, mine.first + row, rows, ub_.result(),
                            softmax_.largest(step) + 4 * row, softmax_.sums(step) + 4 * row);
      }
      stages_.stored(0);
    }
  }

 private:
  // Nothing is stored, but what is raised by MTE3 must not be raised before its turn.
  void pass_on() const {
    const aicore::Flag<Pipe::kMte2, Pipe::kMte3> flag(port_, 0);
    flag.set();
    flag.wait();
  }
  void let_stores_end() const {
    const aicore::Flag<Pipe::kMte3, Pipe::kMte2> flag(port_, 0);
    flag.set();
    flag.wait();
  }

  void load(std::uint32_t to, std::uint32_t to_pitch, std::uint64_t from, std::uint32_t rows,
            std::uint32_t columns, std::uint32_t from_pitch, DataType type) const {
    const std::uint64_t bytes = platform::bytes_of(type);
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, to};
    copy.from = from;
    copy.rows = rows;
    copy.row_bytes = static_cast<std::uint32_t>(columns * bytes);
    copy.from_pitch = from_pitch * bytes;
    copy.to_pitch = to_pitch;
    port_.issue(copy);
  }
  void store(std::uint64_t to, std::uint64_t to_pitch, std::uint32_t from, std::uint32_t from_pitch,
             std::uint32_t rows, std::uint32_t columns, DataType type) const {
    const std::uint64_t bytes = platform::bytes_of(type);
    platform::CopyOut copy;
    copy.to = to;
    copy.from = {LocalBuffer::kUb, from};
    copy.rows = rows;
    copy.row_bytes = static_cast<std::uint32_t>(columns * bytes);
    copy.to_pitch = rows == 1 ? 0 : to_pitch * bytes;
    copy.from_pitch = from_pitch;
    port_.issue(copy);
  }

  // Into the result, of type A.
  template <DataType kType>
  void weigh(const Step& step, const RowSoftmax::Tile& tile) {
    if (kType == kTypeA) {
      stages_.begin_result();
      return softmax_.weigh<kType>(step, tile, ub_.result());
    }
    softmax_.weigh<kType>(step, tile, tile.scores);
    stages_.begin_result();
    Vector cast =
        row_vector(VectorOp::kCast, kType, ub_.result(), tile.scores, tile.rows, step.keys);
    cast.to_type = kTypeA;
    cast.a_pitch = ub_.score_row();
    cast.to_pitch = ub_.weight_row();
    port_.issue(cast);
  }
  // Places `now` and `before` into the result, which is of type C at the end of a whole task.
  void add_up(const Step& step, std::uint32_t rows, std::uint32_t row, unsigned now,
              unsigned before) {
    const AreaTile tile{0, 0, rows, w_.head};
    const bool divides = step.last && w_.splits == 1;
    const bool converts = divides && kTypeC != DataType::kFp32;
    if (!step.first) {
      row_op(port_, VectorOp::kBroadcastMul, ub_.place(before), ub_.place(before),
             softmax_.factors(step) + 4 * row, tile);
    }
    if (!converts) stages_.begin_result();
    const std::uint32_t to = converts ? ub_.place(now) : ub_.result();
    if (!step.first) {
      tile_op(port_, VectorOp::kAdd, to, ub_.place(now), ub_.place(before), tile);
      stages_.consumed(before);
    } else if (!converts) {
      element_op(port_, VectorOp::kMuls, to, ub_.place(now), tile, 1);
    }
    if (converts) stages_.begin_result();
    if (divides) results_.divide(softmax_.sums(step) + 4 * row, to, ub_.result(), rows);
    stages_.consumed(now);
  }

  AicorePort& port_;
  const Work& w_;
  const unsigned role_;
  const Ring ring_;
  const VectorBuffers ub_;
  const RowSoftmax softmax_;
  const Mask mask_;
  const Results results_;
  StagesOf<2, 1> stages_;
};

}  // namespace npu::kernels::attention
