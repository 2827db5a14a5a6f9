// SPDX-License-Identifier: Apache-2.0
// The output so far and what a chunk of keys adds to it; with the last chunk the result.
#pragma once

#include "kernels/device/attention/buffers.hpp"

namespace npu::kernels::attention {

class Output {
 public:
  // `adds`: of the chunk; if not, the output is as it was, and this is the last chunk.
  Output(AicorePort& port, const Work& work, std::uint32_t chunk, bool adds)
      : port_(port),
        w_(work),
        factors_(work.factors[chunk % 2]),
        so_far_(chunk > 0),
        adds_(adds),
        last_(chunk + 1 == work.chunks()),
        ub_(port),
        stages_(port) {}

  std::uint32_t rows() const { return ub_.rows(w_.head); }

  // Rows of all heads' rows.
  void run(const AreaTile& rows, std::uint32_t) {
    AreaTile tile = rows;
    tile.columns = w_.head;
    const unsigned i = stages_.begin_load();
    load(i, tile);
    std::uint32_t sum = ub_.in(i);  // where the output is
    if (so_far_ && adds_) {
      row_op(port_, VectorOp::kBroadcastMul, ub_.work(), sum, ub_.number(0, i), tile);
      tile_op(port_, VectorOp::kAdd, ub_.work(), ub_.work(), ub_.second_in(i), tile);
      sum = ub_.work();
    } else if (adds_) {
      sum = ub_.second_in(i);
    }
    if (last_) {
      row_op(port_, VectorOp::kBroadcastDiv, ub_.work(), sum, ub_.number(1, i), tile);
      sum = ub_.work();
    }
    store(i, sum, tile);
  }

 private:
  void load(unsigned i, const AreaTile& tile) {
    const AreaTile numbers{0, tile.row, 1, tile.rows};
    if (so_far_) load_rows(port_, ub_.in(i), {w_.output, w_.head}, tile, DataType::kFp32);
    if (adds_) load_rows(port_, ub_.second_in(i), {w_.values, w_.head}, tile, DataType::kFp32);
    if (so_far_ && adds_)
      load_rows(port_, ub_.number(0, i), {factors_, 0}, numbers, DataType::kFp32);
    if (last_) load_rows(port_, ub_.number(1, i), {w_.sums, 0}, numbers, DataType::kFp32);
    stages_.loaded(i);
  }
  void store(unsigned i, std::uint32_t sum, const AreaTile& tile) {
    const DataType type = last_ ? kTypeC : DataType::kFp32;
    const unsigned set = stages_.begin_result();
    convert_rows(port_, ub_.out(set), type, sum, DataType::kFp32, tile.rows, tile.columns);
    stages_.consumed(i);
    stages_.computed(set);
    store_rows(port_, {last_ ? w_.to : w_.output, w_.head}, tile, ub_.out(set), type);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work w_;
  const std::uint64_t factors_;
  const bool so_far_, adds_, last_;
  const Buffers ub_;
  Stages stages_;
};

}  // namespace npu::kernels::attention
