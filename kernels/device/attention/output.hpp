// SPDX-License-Identifier: Apache-2.0
// The output so far and what a chunk of keys adds to it, part by part; with the last chunk the
// result.
#pragma once

#include "kernels/device/attention/buffers.hpp"

namespace npu::kernels::attention {

class Output {
 public:
  // `adds`: of the chunk; if not, the output is as it was, and this is the last chunk.
  Output(AicorePort& port, const Work& work, const Step& step, bool adds)
      : port_(port),
        w_(work),
        first_row_(std::uint64_t{step.first_group} * work.rows()),
        factors_(work.factors[step.chunk % 2]),
        parts_(adds ? work.parts_of(step.chunk) : 1),
        so_far_(step.chunk > 0),
        adds_(adds),
        last_(step.chunk + 1 == work.chunks()),
        ub_(port.buffer_size(LocalBuffer::kUb)),
        stages_(port) {}

  std::uint32_t rows() const { return ub_.rows(w_.head); }

  // Rows of the wave's rows.
  void run(const AreaTile& rows, std::uint32_t) {
    AreaTile tile = rows;
    tile.columns = w_.head;
    for (std::uint32_t part = 0; part + 1 < parts_; ++part) {
      const unsigned i = stages_.begin_load();
      load(i, tile, part);
      const std::uint32_t sum = add(i, tile, part);
      if (sum != ub_.work()) element_op(port_, VectorOp::kCopy, ub_.work(), sum, tile);
      stages_.consumed(i);
    }
    const unsigned i = stages_.begin_load();
    load(i, tile, parts_ - 1);
    std::uint32_t sum = add(i, tile, parts_ - 1);
    if (last_) {
      row_op(port_, VectorOp::kBroadcastDiv, ub_.work(), sum, ub_.number(1, i), tile);
      sum = ub_.work();
    }
    store(i, sum, tile);
  }

 private:
  AreaTile numbers_of(const AreaTile& tile) const {
    return {0, first_row_ + tile.row, 1, tile.rows};
  }
  void load(unsigned i, const AreaTile& tile, std::uint32_t part) {
    const bool corrects = part == 0 && so_far_;
    const std::uint64_t bytes = std::uint64_t{part} * w_.wave * w_.rows() * w_.head * 4;
    if (corrects) load_rows(port_, ub_.in(i), {w_.output, w_.head}, tile, DataType::kFp32);
    if (adds_) {
      load_rows(port_, ub_.second_in(i), {w_.values + bytes, w_.head}, tile, DataType::kFp32);
    }
    if (corrects && adds_) {
      load_rows(port_, ub_.number(0, i), {factors_, 0}, numbers_of(tile), DataType::kFp32);
    }
    if (last_ && part + 1 == parts_) {
      load_rows(port_, ub_.number(1, i), {w_.sums, 0}, numbers_of(tile), DataType::kFp32);
    }
    stages_.loaded(i);
  }
  // Where the sum is when a part has been added.
  std::uint32_t add(unsigned i, const AreaTile& tile, std::uint32_t part) {
    if (!adds_) return ub_.in(i);
    if (part == 0 && !so_far_) return ub_.second_in(i);
    if (part == 0) {
      row_op(port_, VectorOp::kBroadcastMul, ub_.work(), ub_.in(i), ub_.number(0, i), tile);
    }
    tile_op(port_, VectorOp::kAdd, ub_.work(), ub_.work(), ub_.second_in(i), tile);
    return ub_.work();
  }
  void store(unsigned i, std::uint32_t sum, const AreaTile& tile) {
    const DataType type = last_ ? kTypeC : DataType::kFp32;
    const unsigned set = stages_.begin_result();
    convert_rows(port_, ub_.out(set), type, sum, DataType::kFp32, tile.rows, tile.columns);
    stages_.consumed(i);
    stages_.computed(set);
    AreaTile at = tile;
    if (last_) at.row += first_row_;
    store_rows(port_, {last_ ? w_.to : w_.output, w_.head}, at, ub_.out(set), type);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work w_;
  const std::uint64_t first_row_;  // of all rows
  const std::uint64_t factors_;
  const std::uint32_t parts_;
  const bool so_far_, adds_, last_;
  const OutputBuffers ub_;
  Stages stages_;
};

}  // namespace npu::kernels::attention
