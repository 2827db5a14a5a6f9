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
        ub_(port.buffer_size(LocalBuffer::kUb), keys_),
        stages_(port) {
    if (kCausal) make_index();
  }

  std::uint32_t rows() const { return ub_.rows(); }

  // Rows of the wave's rows; scores become weights where they are.
  void run(const AreaTile& rows, std::uint32_t query) {
    AreaTile tile = rows;
    tile.columns = keys_that_are_read(tile);
    const unsigned i = stages_.begin_load();
    load(i, tile);
    const std::uint32_t scores = ub_.scores(i);
    element_op(port_, VectorOp::kMuls, scores, scores, tile, w_.scale);
    if (kCausal) mask(scores, tile, query);
    const unsigned set = stages_.begin_result();
    const std::uint32_t largest = ub_.number(2, set), sum = ub_.number(3, set);
    reduce_rows(port_, VectorOp::kReduceMax, largest, scores, tile);
    // It is finite: where nothing is seen weights are 0, not no numbers.
    number_op(port_, VectorOp::kMaxs, largest, largest, 0, tile.rows, -kLargest);
    if (chunk_ > 0) {
      number_op(port_, VectorOp::kMax, largest, ub_.number(0, i), largest, tile.rows);
    }
    row_op(port_, VectorOp::kBroadcastSub, scores, scores, largest, tile);
    element_op(port_, kTypeA == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp, scores,
               scores, tile);
    reduce_rows(port_, VectorOp::kReduceSum, sum, scores, tile);
    if (chunk_ > 0) bring_together(i, set, tile);
    convert_rows(port_, ub_.weights(set), kTypeA, scores, DataType::kFp32, tile.rows, tile.columns);
    stages_.consumed(i);
    stages_.computed(set);
    store_rows(port_, {w_.weights, w_.chunk}, tile, ub_.weights(set), kTypeA);
    store_numbers(w_.largest, largest, tile);
    store_numbers(w_.sums, sum, tile);
    if (chunk_ > 0) store_numbers(w_.factors[chunk_ % 2], ub_.number(4, set), tile);
    stages_.stored(set);
  }

 private:
  static constexpr float kLargest = 3.402823466e38F;

  // The first ones, as many as the cubes' tiles of these rows multiply.
  std::uint32_t keys_that_are_read(const AreaTile& tile) const {
    if (!kCausal) return keys_;
    const std::uint32_t height = w_.value_tiling.m;
    const auto first = static_cast<std::uint32_t>(tile.row % w_.rows());
    std::uint32_t most = 0;
    for (std::uint32_t row = first / height; row * height < first + tile.rows; ++row) {
      // Tiles that go on into the next group have its first rows.
      if (row * height >= w_.rows()) return keys_;
      most = std::max(most, w_.seen_in_tiles(chunk_, row, height));
    }
    return most;
  }

  // Of the first 8 by the scalar unit, then by doubling what is there: first a row, then rows.
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
    const std::uint32_t row = aicore::row_bytes(keys_, DataType::kFp32) / 4;
    for (std::uint32_t have = kFirst; have < row; have *= 2) {
      copy_index(have, std::min(have, row - have), static_cast<float>(have));
    }
    for (std::uint32_t have = 1; have < ub_.rows(); have *= 2) {
      copy_index(have * row, std::min(have, ub_.rows() - have) * row, -static_cast<float>(have));
    }
  }
  // The first `count` elements to where `at` is, `more` added.
  void copy_index(std::uint32_t at, std::uint32_t count, float more) {
    number_op(port_, VectorOp::kAdds, ub_.index() + 4 * at, ub_.index(), 0, count, more);
  }

  void load(unsigned i, const AreaTile& tile) {
    load_rows(port_, ub_.scores(i), {w_.scores, w_.chunk}, tile, DataType::kFp32);
    if (chunk_ > 0) {
      const AreaTile numbers{0, first_row_ + tile.row, 1, tile.rows};
      load_rows(port_, ub_.number(0, i), {w_.largest, 0}, numbers, DataType::kFp32);
      load_rows(port_, ub_.number(1, i), {w_.sums, 0}, numbers, DataType::kFp32);
    }
    stages_.loaded(i);
  }

  // Head by head: each query sees one key more than the one before.
  void mask(std::uint32_t scores, const AreaTile& tile, std::uint32_t query) {
    const std::uint32_t pitch = aicore::row_bytes(tile.columns, DataType::kFp32);
    for (std::uint32_t row = 0; row < tile.rows; query = 0) {
      const std::uint32_t rows = std::min(tile.rows - row, w_.queries - query);
      mask_head(scores + row * pitch, pitch, {0, 0, rows, tile.columns}, query);
      row += rows;
    }
  }
  // Rows of one head, `query` the first; it, and more of them, may see nothing of the chunk.
  void mask_head(std::uint32_t scores, std::uint32_t pitch, const AreaTile& tile,
                 std::uint32_t query) {
    constexpr std::uint32_t kRepeat = 64;
    const std::uint32_t sees = w_.seen_by(query), before = w_.first_key(chunk_);
    // All rows see what comes before `first`.
    const std::uint32_t seen = sees > before ? sees - before : 0;
    if (seen >= tile.columns) return;
    const std::uint32_t first = seen / kRepeat * kRepeat;
    Vector compare = row_vector(VectorOp::kCompares, DataType::kFp32, ub_.mask(), ub_.index(),
                                tile.rows, tile.columns - first);
    compare.a_pitch = aicore::row_bytes(keys_, DataType::kFp32);
    compare.to_pitch = ub_.mask_row();
    compare.comparison = platform::Comparison::kLess;
    compare.scalar =
        static_cast<float>(static_cast<std::int64_t>(sees) - before - std::int64_t{first});
    port_.issue(compare);
    Vector select = row_vector(VectorOp::kSelects, DataType::kFp32, scores + first * 4,
                               scores + first * 4, tile.rows, tile.columns - first);
    select.a_pitch = select.to_pitch = pitch;
    select.mask = ub_.mask();
    select.mask_pitch = ub_.mask_row();
    select.scalar = -__builtin_inff();
    port_.issue(select);
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
  const WeightBuffers ub_;
  Stages stages_;
};

}  // namespace npu::kernels::attention
