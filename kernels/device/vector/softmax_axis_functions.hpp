// SPDX-License-Identifier: Apache-2.0
// Softmax along the middle one of three axes in vector functions by columns (docs/sources/950.md,
// N32): a tile is the whole axis by some columns if as many as a register holds fit into UB.
// Otherwise the axis is read in three passes of 128 rows: the largest, the sum, the results.
#pragma once

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels::vector {

struct AxisWork {
  std::uint64_t from = 0, to = 0;
  std::uint64_t outer = 0, inner = 0;
  std::uint32_t axis = 0;
  std::uint32_t columns = 0;  // of a tile
  std::uint32_t rows = 0;     // of a tile: the axis, or a part of it
  std::uint32_t passes = 1;   // over the axis: 1 or 3

  std::uint64_t across() const { return aicore::divide_up<std::uint64_t>(inner, columns); }
  std::uint64_t tiles() const { return outer * across(); }
};

class SoftmaxAxisFunctions {
 public:
  // Chooses the tiles; returns for how many cores.
  static std::uint64_t choose(AxisWork& work, std::uint64_t ub, std::uint32_t cores) {
    constexpr std::uint32_t kSizeA = size_of(kTypeA);
    constexpr std::uint64_t kRegister = 256 / kSizeA;  // elements
    std::uint64_t grain = kRegister;
    std::uint64_t fit = ub / ((kSets * (kSizeA + kFp32) + kFp32) * work.axis + 2 * kFp32) / grain;
    work.rows = work.axis;
    if (fit == 0) {
      grain = aicore::kLocalAlignment / std::min(kSizeA, size_of(kTypeC));
      const std::uint64_t numbers = kFp32 * (kNumbers + caches(work.axis));
      fit = ub / grain / (kPart * kSets * (kFp32 + kSizeA) + numbers);
      work.rows = std::min(work.axis, kPart);
      work.passes = 3;
    }
    const std::uint64_t all = aicore::divide_up(work.inner, grain);
    const std::uint64_t share = aicore::divide_up<std::uint64_t>(work.outer * all, cores);
    work.columns = static_cast<std::uint32_t>(std::min({share, fit, all}) * grain);
    return aicore::divide_up(work.tiles(), aicore::divide_up<std::uint64_t>(work.tiles(), cores));
  }

  SoftmaxAxisFunctions(AicorePort& port, const AxisWork& work)
      : port_(port), work_(work), stages_(port) {
    const std::uint32_t count = work.rows * work.columns;
    aicore::UbParts ub;
    for (std::uint32_t& in : in_) in = ub.take(count * size_of(kTypeA));
    const bool whole = work.passes == 1;
    for (std::uint32_t& out : out_) out = ub.take(count * (whole ? size_of(kTypeC) : kFp32));
    if (whole) exponentials_ = ub.take(count * kFp32);
    largest_ = ub.take(work.columns * kFp32);
    sums_ = ub.take(work.columns * kFp32);
    if (!whole) lanes_ = ub.take(kLanes * work.columns * kFp32);
  }

  // The block's tiles follow one another.
  void run() {
    const std::uint64_t each = aicore::divide_up<std::uint64_t>(work_.tiles(), port_.call().blocks);
    const std::uint64_t first = port_.call().block * each;
    for (std::uint64_t i = first; i < std::min(first + each, work_.tiles()); ++i) {
      outer_ = i / work_.across();
      column_ = i % work_.across() * work_.columns;
      columns_ =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.columns, work_.inner - column_));
      begin_numbers();
      work_.passes == 1 ? whole() : parts();
    }
  }

 private:
  static constexpr std::uint32_t kFp32 = 4;      // bytes
  static constexpr std::uint32_t kPart = 128;    // rows
  static constexpr std::uint32_t kNumbers = 11;  // of a column, as the library reckons
  static constexpr std::uint32_t kLanes = 4;     // sums of a column side by side
  // The largest are finite: infinitely small columns leave the sum 0, not no number.
  static constexpr float kLargest = 3.402823466e38F;
  static constexpr DataType kFloat = DataType::kFp32;
  using Builder = FunctionBuilder<5>;

  // Sums of parts that the library keeps while it adds them in pairs.
  static std::uint32_t caches(std::uint32_t axis) {
    std::uint32_t count = 1;
    for (std::uint32_t parts = (aicore::divide_up(axis, kPart) - 1) / 2; parts != 0; parts /= 2) {
      ++count;
    }
    return count;
  }

  RowTile tile_at(std::uint32_t row) const {
    return {outer_ * work_.axis + row, std::min(work_.rows, work_.axis - row), columns_,
            work_.columns};
  }
  unsigned load(const RowTile& tile) {
    const unsigned i = stages_.begin_load();
    load_tile(port_, in_[i], {work_.from, work_.inner, column_}, tile, kTypeA);
    stages_.loaded(i);
    return i;
  }
  void store(unsigned set, const RowTile& tile) const {
    stages_.computed(set);
    store_tile(port_, {work_.to, work_.inner, column_}, tile, out_[set], kTypeC);
    stages_.stored(set);
  }

  void whole() {
    const RowTile tile = tile_at(0);
    const unsigned i = load(tile);
    find_largest(i, tile.rows);
    make_exponentials(i, tile.rows);
    stages_.consumed(i);
    const unsigned set = stages_.begin_result();
    add_up(out_[set], tile.rows);  // where the results come to
    Builder function;
    function.load(1, exponentials_, kFloat, FunctionRows::kOwn, pitch(kFloat));
    divide(function, set, tile.rows);
    store(set, tile);
  }
  void parts() {
    for_parts([&](unsigned i, const RowTile& tile) {
      find_largest(i, tile.rows);
      stages_.consumed(i);
    });
    for_parts([&](unsigned i, const RowTile& tile) {
      const unsigned set = stages_.begin_result();
      exponentials_ = out_[set];  // of which nothing is stored
      make_exponentials(i, tile.rows);
      stages_.consumed(i);
      add_up(lanes_, tile.rows);
      stages_.computed(set);
      stages_.stored(set);
    });
    for_parts([&](unsigned i, const RowTile& tile) {
      const unsigned set = stages_.begin_result();
      Builder function;
      exponential(function, i);
      divide(function, set, tile.rows);
      stages_.consumed(i);
      store(set, tile);
    });
  }
  template <class Use>
  void for_parts(Use use) {
    for (std::uint32_t row = 0; row < work_.axis; row += work_.rows) {
      const RowTile tile = tile_at(row);
      use(load(tile), tile);
    }
  }

  std::uint32_t pitch(DataType type) const { return work_.columns * size_of(type); }
  void begin_numbers() const {
    Builder function;
    function.op(VectorOp::kDuplicate, 0, 0, 0, -kLargest);
    function.op(VectorOp::kDuplicate, 1, 0, 0, 0);
    function.store(0, largest_, kFloat);
    function.store(1, sums_, kFloat);
    function.issue(port_, 1, columns_);
  }
  // Loaded rows as fp32, in the register returned: 0 or 1.
  std::uint8_t operand(Builder& function, unsigned i) const {
    function.load(0, in_[i], kTypeA, FunctionRows::kOwn, pitch(kTypeA));
    return function.cast(1, kFloat, 0, kTypeA);
  }
  void find_largest(unsigned i, std::uint32_t rows) const {
    Builder function;
    function.load(2, largest_, kFloat, FunctionRows::kShared);
    function.op(VectorOp::kMax, 2, 2, operand(function, i));
    function.store(2, largest_, kFloat, FunctionRows::kShared);
    function.issue(port_, rows, columns_, true);
  }
  // In register 1.
  void exponential(Builder& function, unsigned i) const {
    function.load(2, largest_, kFloat, FunctionRows::kShared);
    function.op(VectorOp::kSub, 1, operand(function, i), 2);
    function.op(VectorOp::kExp, 1, 1);
  }
  void make_exponentials(unsigned i, std::uint32_t rows) const {
    Builder function;
    exponential(function, i);
    function.store(1, exponentials_, kFloat, FunctionRows::kOwn, pitch(kFloat));
    function.issue(port_, rows, columns_, true);
  }
  // What register 1 has, by the sums.
  void divide(Builder& function, unsigned set, std::uint32_t rows) const {
    function.load(3, sums_, kFloat, FunctionRows::kShared);
    function.op(VectorOp::kDiv, 1, 1, 3);
    const std::uint8_t result = function.cast(4, kTypeC, 1, kFloat);
    function.store(result, out_[set], kTypeC, FunctionRows::kOwn, pitch(kTypeC));
    function.issue(port_, rows, columns_, true);
  }

  // Adds the exponentials to the sums. Each addition waits for the one before: of many rows, in
  // four lanes at `lanes`.
  void add_up(std::uint32_t lanes, std::uint32_t rows) const {
    if (rows < 2 * kLanes) return add_rows(exponentials_, rows);
    const std::uint32_t group = kLanes * pitch(kFloat), groups = rows / kLanes;
    Builder function;
    function.load(0, exponentials_, kFloat, FunctionRows::kShared);
    function.load(1, exponentials_ + group, kFloat, FunctionRows::kOwn, group);
    function.op(VectorOp::kAdd, 0, 0, 1);
    function.store(0, lanes, kFloat, FunctionRows::kShared);
    function.issue(port_, groups - 1, kLanes * work_.columns, true);
    add_rows(lanes, kLanes);
    if (rows % kLanes != 0) add_rows(exponentials_ + groups * group, rows % kLanes);
  }
  void add_rows(std::uint32_t from, std::uint32_t rows) const {
    Builder function;
    function.load(0, sums_, kFloat, FunctionRows::kShared);
    function.load(1, from, kFloat, FunctionRows::kOwn, pitch(kFloat));
    function.op(VectorOp::kAdd, 0, 0, 1);
    function.store(0, sums_, kFloat, FunctionRows::kShared);
    function.issue(port_, rows, columns_, true);
  }

  AicorePort& port_;
  const AxisWork work_;
  Stages stages_;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t exponentials_ = 0, largest_ = 0, sums_ = 0, lanes_ = 0;
  std::uint64_t outer_ = 0, column_ = 0;
  std::uint32_t columns_ = 0;
};

}  // namespace npu::kernels::vector
