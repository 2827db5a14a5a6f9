// SPDX-License-Identifier: Apache-2.0
// Products of the tokens of a piece, raw[i][j] * exp(g[i] - g[j]) for j before i, 0 for the others.
#pragma once

#include "kernels/device/chunks/work.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::chunks {

struct DecayOf {
  std::uint64_t raw = 0;      // chunk x chunk of each chunk and kv head, fp32
  std::uint64_t factors = 0;  // of row i, heads x tokens; 0: all are 1
  std::uint64_t to = 0;
  bool dense = false;     // pieces behind each other; else tokens x heads x chunk
  bool with_own = false;  // j up to i
};

class Decay {
 public:
  Decay(AicorePort& port, const Work& work, const DecayOf& what, std::uint64_t gates)
      : port_(port), work_(work), what_(what), gates_(gates), rows_(rows_of(work)), stages_(port) {
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) {
      raw_[i] = ub.take(count() * 4);
      numbers_[i] = ub.take(work.chunk * 4);
      columns_[i] = ub.take(work.chunk * 4);
      out_[i] = ub.take(count() * static_cast<std::uint32_t>(kElement));
      factors_[i] = ub.take(work.chunk * 4);
    }
    decay_ = ub.take(count() * 4);
    mask_ = ub.take(static_cast<std::uint32_t>(work.square() / 8));
  }

  // A block's parts of pieces: i, i + n, ...
  void run() {
    make_mask();
    const std::uint32_t parts = work_.chunk / rows_;
    for (std::uint64_t i = port_.call().block; i < work_.pieces() * parts;
         i += port_.call().blocks) {
      one(piece(i / parts, work_.heads), static_cast<std::uint32_t>(i % parts) * rows_);
    }
  }
  static std::uint64_t parts(const Work& work) {
    return work.pieces() * (work.chunk / rows_of(work));
  }

 private:
  // Of a tile: a power of two that divides a chunk.
  static std::uint32_t rows_of(const Work& work) {
    std::uint32_t rows = kGrain;
    while (rows > 2 && (rows * work.chunk > kTile || work.chunk % rows != 0)) rows /= 2;
    return rows;
  }
  std::uint32_t count() const { return rows_ * work_.chunk; }

  // A bit for each token that row i may see.
  void make_mask() {
    const std::uint32_t words = work_.chunk / 32;
    for (std::uint32_t row = 0; row < work_.chunk; ++row) {
      const std::uint32_t seen = row + (what_.with_own ? 1 : 0);
      for (std::uint32_t word = 0; word < words; ++word) {
        const std::uint32_t first = word * 32;
        const std::uint32_t bits = seen <= first        ? 0
                                   : seen - first >= 32 ? ~0U
                                                        : (1U << (seen - first)) - 1;
        port_.store_ub(mask_ + (row * words + word) * 4, bits);
      }
    }
    const Flag<Pipe::kScalar, Pipe::kVector> made(port_, 0);
    made.set();
    made.wait();
  }

  void one(const Piece& at, std::uint32_t row) {
    const unsigned i = stages_.begin_load();
    const std::uint64_t group = at.chunk * work_.kv_heads + at.head / work_.shared();
    load(raw_[i], what_.raw + (group * work_.square() + std::uint64_t{row} * work_.chunk) * 4,
         count());
    const std::uint64_t gates = numbers_at(gates_, work_, at);
    load(columns_[i], gates, work_.chunk);
    load(numbers_[i], gates + row * 4, rows_);
    if (what_.factors != 0)
      load(factors_[i], numbers_at(what_.factors, work_, at) + row * 4, rows_);
    stages_.loaded(i);
    const AreaTile area{0, 0, rows_, work_.chunk};
    row_op(port_, VectorOp::kBroadcast, decay_, 0, numbers_[i], area);
    for (std::uint32_t r = 0; r < rows_; ++r) {
      const std::uint32_t line = decay_ + r * work_.chunk * 4;
      vector::Flat(port_, work_.chunk).issue(VectorOp::kSub, line, line, columns_[i]);
    }
    const vector::Flat all(port_, count());
    all.issue(VectorOp::kExp, decay_, decay_);
    all.issue(VectorOp::kMul, decay_, decay_, raw_[i]);
    if (what_.factors != 0)
      row_op(port_, VectorOp::kBroadcastMul, decay_, decay_, factors_[i], area);
    Vector select = row_vector(VectorOp::kSelects, DataType::kFp32, decay_, decay_, 1, count());
    select.mask = mask_ + row * work_.chunk / 8;
    port_.issue(select);
    stages_.consumed(i);
    const unsigned set = stages_.begin_result();
    all.cast(out_[set], kTypeC, decay_, DataType::kFp32);
    stages_.computed(set);
    store(at, row, out_[set]);
    stages_.stored(set);
  }
  void load(std::uint32_t to, std::uint64_t from, std::uint32_t elements) {
    vector::load_tile(port_, to, {from, elements, 0}, {0, 1, elements, elements}, DataType::kFp32);
  }
  void store(const Piece& at, std::uint32_t row, std::uint32_t from) {
    if (what_.dense) {
      const std::uint64_t index = at.chunk * work_.heads + at.head;
      const std::uint64_t to =
          what_.to + (index * work_.square() + std::uint64_t{row} * work_.chunk) * kElement;
      vector::store_tile(port_, {to, count(), 0}, {0, 1, count(), count()}, from, kTypeC);
      return;
    }
    const std::uint64_t length = std::uint64_t{work_.heads} * work_.chunk;
    vector::store_tile(port_, {what_.to, length, std::uint64_t{at.head} * work_.chunk},
                       {at.chunk * work_.chunk + row, rows_, work_.chunk, work_.chunk}, from,
                       kTypeC);
  }

  AicorePort& port_;
  const Work& work_;
  const DecayOf what_;
  const std::uint64_t gates_;
  const std::uint32_t rows_;  // of a tile
  Stages stages_;
  std::uint32_t raw_[kSets] = {}, numbers_[kSets] = {}, columns_[kSets] = {}, out_[kSets] = {},
                factors_[kSets] = {}, decay_ = 0, mask_ = 0;
};

}  // namespace npu::kernels::chunks
