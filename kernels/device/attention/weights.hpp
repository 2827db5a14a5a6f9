// SPDX-License-Identifier: Apache-2.0
// Weights of a chunk of keys: exp(score - the largest so far) of every query that sees any of them,
// and what that makes of the sums and of the output so far.
#pragma once

#include <cstring>

#include "kernels/device/attention/buffers.hpp"

namespace npu::kernels::attention {

class Weights {
 public:
  Weights(AicorePort& port, const Work& work, const Step& step)
      : port_(port),
        w_(work),
        chunk_(step.chunk),
        keys_(work.keys_of(step.chunk)),
        first_row_(std::uint64_t{step.first_group} * work.rows()),
        ub_(port),
        stages_(port) {
    if (kCausal) make_index();
  }

  // Rows of the wave's rows.
  void run(const AreaTile& rows, std::uint32_t query) {
    AreaTile tile = rows;
    tile.columns = keys_;
    const unsigned i = stages_.begin_load();
    load(i, tile);
    scale_and_mask(i, tile, query);
    const unsigned set = stages_.begin_result();
    const std::uint32_t largest = ub_.number(2, set), sum = ub_.number(3, set);
    reduce_rows(port_, VectorOp::kReduceMax, largest, ub_.work(), tile);
    // It is finite: where nothing is seen weights are 0, not no numbers.
    number_op(port_, VectorOp::kMaxs, largest, largest, 0, tile.rows, -kLargest);
    if (chunk_ > 0) {
      number_op(port_, VectorOp::kMax, largest, ub_.number(0, i), largest, tile.rows);
    }
    row_op(port_, VectorOp::kBroadcastSub, ub_.work(), ub_.work(), largest, tile);
    element_op(port_, kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp,
               ub_.work(), ub_.work(), tile);
    reduce_rows(port_, VectorOp::kReduceSum, sum, ub_.work(), tile);
    if (chunk_ > 0) bring_together(i, set, tile);
    stages_.consumed(i);
    convert_rows(port_, ub_.out(set), kTypeA, ub_.work(), DataType::kFp32, tile.rows, tile.columns);
    stages_.computed(set);
    store_rows(port_, {w_.weights, w_.chunk}, tile, ub_.out(set), kTypeA);
    store_numbers(w_.largest, largest, tile);
    store_numbers(w_.sums, sum, tile);
    if (chunk_ > 0) store_numbers(w_.factors[chunk_ % 2], ub_.number(4, set), tile);
    stages_.stored(set);
  }
  std::uint32_t rows() const { return ub_.rows(keys_); }

 private:
  static constexpr float kLargest = 3.402823466e38F;

  // Of the first 8 by the scalar unit, then by doubling what is there.
  void make_index() {
    constexpr std::uint32_t kFirst = 8;
    for (std::uint32_t i = 0; i < kFirst; ++i) {
      const auto number = static_cast<float>(i);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      port_.store_ub(ub_.index() + 4 * i, bits);
    }
    const Flag<Pipe::kScalar, Pipe::kVector> ready(port_, 0);
    ready.set();
    ready.wait();
    for (std::uint32_t have = kFirst; have < keys_; have *= 2) {
      const std::uint32_t more = std::min(have, aicore::round_up(keys_, kFirst) - have);
      number_op(port_, VectorOp::kAdds, ub_.index() + 4 * have, ub_.index(), 0, more,
                static_cast<float>(have));
    }
  }

  void load(unsigned i, const AreaTile& tile) {
    load_rows(port_, ub_.in(i), {w_.scores, w_.chunk}, tile, DataType::kFp32);
    if (chunk_ > 0) {
      const AreaTile numbers{0, first_row_ + tile.row, 1, tile.rows};
      load_rows(port_, ub_.number(0, i), {w_.largest, 0}, numbers, DataType::kFp32);
      load_rows(port_, ub_.number(1, i), {w_.sums, 0}, numbers, DataType::kFp32);
    }
    stages_.loaded(i);
  }

  void scale_and_mask(unsigned i, const AreaTile& tile, std::uint32_t query) {
    element_op(port_, VectorOp::kMuls, ub_.work(), ub_.in(i), tile, w_.scale);
    if (!kCausal) return;
    const std::uint32_t pitch = aicore::row_bytes(tile.columns, DataType::kFp32);
    for (std::uint32_t row = 0; row < tile.rows; ++row, ++query) {
      if (query == w_.queries) query = 0;
      const std::uint32_t seen = w_.seen_in(chunk_, query);
      if (seen == keys_) continue;
      const std::uint32_t at = ub_.work() + row * pitch;
      Vector compare =
          row_vector(VectorOp::kCompares, DataType::kFp32, ub_.mask(), ub_.index(), 1, keys_);
      compare.comparison = platform::Comparison::kLess;
      compare.scalar = static_cast<float>(seen);
      port_.issue(compare);
      Vector select = row_vector(VectorOp::kSelects, DataType::kFp32, at, at, 1, keys_);
      select.mask = ub_.mask();
      select.scalar = -__builtin_inff();
      port_.issue(select);
    }
  }

  // Sums and output so far are relative to a smaller largest score.
  void bring_together(unsigned i, unsigned set, const AreaTile& tile) {
    const std::uint32_t factor = ub_.number(4, set), sum = ub_.number(3, set);
    number_op(port_, VectorOp::kSub, factor, ub_.number(0, i), ub_.number(2, set), tile.rows);
    number_op(port_, VectorOp::kExpPrecise, factor, factor, 0, tile.rows);
    number_op(port_, VectorOp::kMul, ub_.number(5, 0), ub_.number(1, i), factor, tile.rows);
    number_op(port_, VectorOp::kAdd, sum, sum, ub_.number(5, 0), tile.rows);
  }
  void store_numbers(std::uint64_t to, std::uint32_t from, const AreaTile& tile) {
    store_rows(port_, {to, 0}, {0, first_row_ + tile.row, 1, tile.rows}, from, DataType::kFp32);
  }

  AicorePort& port_;
  const Work w_;
  const std::uint32_t chunk_, keys_;
  const std::uint64_t first_row_;  // of all rows
  const Buffers ub_;
  Stages stages_;
};

}  // namespace npu::kernels::attention
