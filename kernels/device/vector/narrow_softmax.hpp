// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of a few elements without gaps. They are loaded as wide rows of whole blocks and
// transposed, so that what was a column is long: element j of a wide row is column j % columns of
// its row j / columns.
#pragma once

#include <numeric>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

inline constexpr std::uint32_t kNarrow = 16;  // columns

struct NarrowWork {
  std::uint64_t from = 0, to = 0;
  std::uint64_t elements = 0;
  std::uint32_t columns = 0;
  std::uint32_t wide = 0;    // elements of a wide row
  std::uint32_t length = 0;  // wide rows of a tile
  std::uint32_t reserved = 0;

  std::uint64_t tile() const { return std::uint64_t{wide} * length; }
};

template <DataType kFrom, DataType kTo>
class NarrowSoftmax {
  static constexpr std::uint32_t kFp32 = 4;  // bytes
  static constexpr std::uint32_t kBlock =
      aicore::kLocalAlignment / std::min(size_of(kFrom), size_of(kTo));  // elements
  static constexpr std::uint32_t kMoved = std::max(size_of(kFrom), size_of(kTo));
  // Of UB for an element: loaded and stored in turn, transposed, in fp32, a number of each row.
  static constexpr std::uint32_t kBytes =
      kSets * (size_of(kFrom) + size_of(kTo)) + kMoved + 2 * kFp32;

 public:
  // Tiles for all cores; length 0: UB is too small.
  static NarrowWork plan(std::uint64_t rows, std::uint32_t columns, std::uint64_t ub,
                         std::uint32_t cores) {
    NarrowWork work;
    work.elements = rows * columns;
    work.columns = columns;
    work.wide = std::lcm(columns, kBlock);
    const std::uint64_t fit = ub / kBytes / work.wide / kBlock * kBlock;
    const std::uint64_t shared = aicore::divide_up<std::uint64_t>(work.elements, work.wide) / cores;
    work.length = static_cast<std::uint32_t>(
        std::min(fit, aicore::round_up<std::uint64_t>(shared + 1, kBlock)));
    return work;
  }

  NarrowSoftmax(AicorePort& port, const NarrowWork& work)
      : port_(port), work_(work), stages_(port) {
    const auto count = static_cast<std::uint32_t>(work.tile());
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) {
      in_[i] = ub.take(count * size_of(kFrom));
      out_[i] = ub.take(count * size_of(kTo));
    }
    turned_ = ub.take(count * kMoved);
    x_ = ub.take(count * kFp32);
    numbers_ = ub.take(count * kFp32);
  }

  void run() {
    for (std::uint64_t at = port_.call().block * work_.tile(); at < work_.elements;
         at += port_.call().blocks * work_.tile()) {
      tile(at, static_cast<std::uint32_t>(std::min(work_.tile(), work_.elements - at)));
    }
  }

 private:
  // What is no number gives none.
  static constexpr VectorOp kExp = kTo == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp;

  void tile(std::uint64_t at, std::uint32_t count) {
    const RowTile flat{0, 1, count, count};
    const unsigned i = stages_.begin_load();
    load_tile(port_, in_[i], {work_.from, 0, at}, flat, kFrom);
    stages_.loaded(i);
    const Flat all(port_, static_cast<std::uint32_t>(work_.tile()));
    const std::uint32_t loaded = kFrom == DataType::kFp32 ? x_ : turned_;
    transpose(loaded, in_[i], work_.length, work_.wide, kFrom);
    stages_.consumed(i);
    if constexpr (kFrom != DataType::kFp32) all.cast(x_, DataType::kFp32, turned_, kFrom);
    collect(VectorOp::kMax);
    spread(VectorOp::kSub);
    all.issue(kExp, x_, x_);
    collect(VectorOp::kAdd);
    spread(VectorOp::kDiv);
    if constexpr (kTo != DataType::kFp32) all.cast(turned_, kTo, x_, DataType::kFp32);
    const unsigned set = stages_.begin_result();
    transpose(out_[set], kTo == DataType::kFp32 ? x_ : turned_, work_.wide, work_.length, kTo);
    stages_.computed(set);
    store_tile(port_, {work_.to, 0, at}, flat, out_[set], kTo);
    stages_.stored(set);
  }

  void transpose(std::uint32_t to, std::uint32_t from, std::uint32_t rows, std::uint32_t columns,
                 DataType type) const {
    Vector v = row_vector(VectorOp::kTranspose, type, to, from, rows, columns);
    v.to_pitch = aicore::row_bytes(rows, type);
    port_.issue(v);
  }
  // Column `column` of all rows.
  std::uint32_t column(std::uint32_t column) const { return x_ + column * work_.length * kFp32; }
  Vector of_columns(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b) const {
    Vector v = row_vector(op, DataType::kFp32, to, a, work_.wide / work_.columns, work_.length);
    v.to_pitch = v.a_pitch = v.b_pitch = work_.columns * work_.length * kFp32;
    v.b = b;
    return v;
  }
  // A number of each row from its columns.
  void collect(VectorOp op) const {
    const std::uint32_t dense = work_.length * kFp32;
    Vector v = of_columns(op, numbers_, column(0), column(1));
    v.to_pitch = dense;
    if (work_.columns == 1) v.op = VectorOp::kCopy;
    port_.issue(v);
    for (std::uint32_t i = 2; i < work_.columns; ++i) {
      v = of_columns(op, numbers_, numbers_, column(i));
      v.to_pitch = v.a_pitch = dense;
      port_.issue(v);
    }
  }
  void spread(VectorOp op) const {
    for (std::uint32_t i = 0; i < work_.columns; ++i) {
      Vector v = of_columns(op, column(i), column(i), numbers_);
      v.b_pitch = work_.length * kFp32;
      port_.issue(v);
    }
  }

  AicorePort& port_;
  const NarrowWork work_;
  Stages stages_;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t turned_ = 0, x_ = 0, numbers_ = 0;
};

}  // namespace npu::kernels::vector
