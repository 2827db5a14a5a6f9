// SPDX-License-Identifier: Apache-2.0
// Rows of a piece times a number of their token: to = from * factor, from * factor * exp(gate), or
// from * exp(gate) + more. Block i of n works on parts i, i + n, ... of pieces.
#pragma once

#include "kernels/device/chunks/work.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::chunks {

// A matrix of a piece: of tokens x heads x head, or dense pieces behind each other.
struct PieceRows {
  std::uint64_t at = 0;
  DataType type = kTypeA;
  std::uint32_t heads = 0;  // 0: dense
};

struct Scaling {
  PieceRows from, more, to;              // more.at 0: none
  std::uint64_t factors = 0, gates = 0;  // heads x tokens; 0: none
  float scale = 1;
};

class ScaledRows {
 public:
  ScaledRows(AicorePort& port, const Work& work)
      : port_(port), work_(work), rows_(std::min(work.chunk, 32U)), stages_(port) {
    const std::uint32_t count = rows_ * work.head;
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) {
      in_[i] = ub.take(count * 4);
      more_[i] = ub.take(count * 4);
      out_[i] = ub.take(count * static_cast<std::uint32_t>(kElement));
      factors_[i] = ub.take(rows_ * 4);
      gates_[i] = ub.take(rows_ * 4);
    }
    values_ = ub.take(count * 4);
    numbers_ = ub.take(rows_ * 4);
  }
  static std::uint64_t parts(const Work& work) {
    return work.pieces() * (work.chunk / std::min(work.chunk, 32U));
  }

  void run(const Scaling& scaling) {
    const std::uint32_t each = work_.chunk / rows_;
    for (std::uint64_t i = port_.call().block; i < work_.pieces() * each;
         i += port_.call().blocks) {
      one(scaling, piece(i / each, work_.heads), static_cast<std::uint32_t>(i % each) * rows_);
    }
  }

 private:
  vector::Columns matrix(const PieceRows& rows, const Piece& at) const {
    if (rows.heads == 0) {
      const std::uint64_t index = at.chunk * work_.heads + at.head;
      return {rows.at + index * work_.area() * platform::bytes_of(rows.type), work_.head, 0};
    }
    const std::uint32_t head = rows.heads == work_.heads ? at.head : at.head / work_.shared();
    return {rows.at, std::uint64_t{rows.heads} * work_.head, std::uint64_t{head} * work_.head};
  }
  vector::RowTile tile(const PieceRows& rows, const Piece& at, std::uint32_t row) const {
    const std::uint64_t first = rows.heads == 0 ? 0 : at.chunk * work_.chunk;
    return {first + row, rows_, work_.head, work_.head};
  }
  void load_numbers(std::uint32_t to, std::uint64_t from, const Piece& at, std::uint32_t row) {
    vector::load_tile(port_, to, {numbers_at(from, work_, at) + row * 4, rows_, 0},
                      {0, 1, rows_, rows_}, DataType::kFp32);
  }
  void one(const Scaling& s, const Piece& at, std::uint32_t row) {
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], matrix(s.from, at), tile(s.from, at, row), s.from.type);
    if (s.more.at != 0) {
      vector::load_tile(port_, more_[i], matrix(s.more, at), tile(s.more, at, row), s.more.type);
    }
    if (s.factors != 0) load_numbers(factors_[i], s.factors, at, row);
    if (s.gates != 0) load_numbers(gates_[i], s.gates, at, row);
    stages_.loaded(i);
    const vector::Flat all(port_, rows_ * work_.head);
    const vector::Flat numbers(port_, rows_);
    std::uint32_t by = factors_[i];
    if (s.gates != 0) {
      numbers.issue(VectorOp::kExp, numbers_, gates_[i]);
      if (s.factors != 0) numbers.issue(VectorOp::kMul, numbers_, numbers_, factors_[i]);
      by = numbers_;
    }
    std::uint32_t x = in_[i];
    if (s.from.type != DataType::kFp32) {
      all.cast(values_, DataType::kFp32, x, s.from.type);
      x = values_;
    }
    row_op(port_, VectorOp::kBroadcastMul, values_, x, by, {0, 0, rows_, work_.head});
    if (s.more.at != 0) all.issue(VectorOp::kAdd, values_, values_, more_[i]);
    if (s.scale != 1) all.scalar(VectorOp::kMuls, values_, values_, s.scale);
    stages_.consumed(i);
    const unsigned set = stages_.begin_result();
    all.cast(out_[set], kTypeC, values_, DataType::kFp32);
    stages_.computed(set);
    vector::store_tile(port_, matrix(s.to, at), tile(s.to, at, row), out_[set], kTypeC);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work& work_;
  const std::uint32_t rows_;  // of a tile
  Stages stages_;
  std::uint32_t in_[kSets] = {}, more_[kSets] = {}, out_[kSets] = {}, factors_[kSets] = {},
                gates_[kSets] = {}, values_ = 0, numbers_ = 0;
};

}  // namespace npu::kernels::chunks
