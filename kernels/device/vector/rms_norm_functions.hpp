// SPDX-License-Identifier: Apache-2.0
// Root-mean-square normalisation of whole rows in three vector functions: sums of squares, the
// roots' inverses of all rows of a tile, products (docs/sources/950.md, N32). Gamma is loaded
// once. No number of a row goes to the scalar unit.
#pragma once

#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels::vector {

class RmsNormFunctions {
 public:
  // Rows of a tile in UB; 0: not one.
  static std::uint32_t piece(AicorePort& port, const RowsWork& work) {
    const std::uint64_t kept = 2048 + (work.gamma == 0 ? 0 : pitch(work, kTypeA));
    const std::uint64_t ub = port.buffer_size(LocalBuffer::kUb);
    if (ub <= kept || work.columns > kLongest) return 0;
    const std::uint64_t row = kSets * (pitch(work, kTypeA) + pitch(work, kTypeC)) + sizeof(float);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((ub - kept) / row, work.rows));
  }

  // At most `most` rows at a time.
  RmsNormFunctions(AicorePort& port, const RowsWork& work, std::uint32_t most)
      : port_(port), work_(work), stages_(port) {
    if (work.gamma != 0) gamma_ = take(pitch(work, kTypeA));
    for (unsigned i = 0; i < kSets; ++i) in_[i] = take(most * pitch(work, kTypeA));
    for (unsigned i = 0; i < kSets; ++i) out_[i] = take(most * pitch(work, kTypeC));
    numbers_ = used_;
  }

  void whole(const AreaTile& tile) {
    if (!gamma_loaded_) load_gamma();
    const unsigned i = stages_.begin_load();
    load_rows(port_, in_[i], {work_.from, work_.from_pitch}, tile, kTypeA);
    stages_.loaded(i);
    add_squares(i, tile);
    invert_roots(tile.rows);
    const unsigned set = stages_.begin_result();
    scale(i, set, tile);
    stages_.consumed(i);
    stages_.computed(set);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, out_[set], kTypeC);
    stages_.stored(set);
  }

 private:
  static constexpr std::uint32_t kLongest = 16'384;  // columns; longer rows are taken in parts
  static constexpr DataType kFloat = DataType::kFp32;
  using Builder = FunctionBuilder<6>;

  static std::uint32_t pitch(const RowsWork& work, DataType type) {
    return aicore::row_bytes(work.columns, type);
  }
  std::uint32_t take(std::uint32_t bytes) {
    const std::uint32_t at = used_;
    used_ += bytes;
    return at;
  }

  // Waited for before the first rows are asked for, as the library does.
  void load_gamma() {
    gamma_loaded_ = true;
    if (work_.gamma == 0) return;
    load_rows(port_, gamma_, {work_.gamma, 0}, {0, 0, 1, work_.columns}, kTypeA);
    const Flag<Pipe::kMte2, Pipe::kVector> loaded(port_, kGammaFlag);
    loaded.set();
    loaded.wait();
  }

  std::uint8_t operand(Builder& function, unsigned i) const {
    function.load(0, in_[i], kTypeA, FunctionRows::kOwn, pitch(work_, kTypeA));
    return function.cast(1, kFloat, 0, kTypeA);
  }
  void add_squares(unsigned i, const AreaTile& tile) const {
    Builder function;
    const std::uint8_t x = operand(function, i);
    function.op(VectorOp::kMul, 2, x, x);
    function.op(VectorOp::kReduceSum, 2, 2);
    function.store(2, numbers_, kFloat, FunctionRows::kNumber);
    function.issue(port_, tile.rows, tile.columns);
  }
  void invert_roots(std::uint32_t rows) const {
    Builder function;
    function.load(0, numbers_, kFloat);
    function.op(VectorOp::kMuls, 0, 0, 0, 1.0F / static_cast<float>(work_.columns));
    function.op(VectorOp::kAdds, 0, 0, 0, work_.epsilon);
    function.op(VectorOp::kRsqrt, 0, 0);
    function.store(0, numbers_, kFloat);
    function.issue(port_, 1, rows);
  }
  void scale(unsigned i, unsigned set, const AreaTile& tile) const {
    Builder function;
    const std::uint8_t x = operand(function, i);
    function.load(2, numbers_, kFloat, FunctionRows::kNumber);
    function.op(VectorOp::kMul, 3, x, 2);
    if (work_.gamma != 0) {
      function.load(4, gamma_, kTypeA, FunctionRows::kShared);
      function.op(VectorOp::kMul, 3, 3, function.cast(5, kFloat, 4, kTypeA));
    }
    const std::uint8_t result = function.cast(6, kTypeC, 3, kFloat);
    function.store(result, out_[set], kTypeC, FunctionRows::kOwn, pitch(work_, kTypeC));
    function.issue(port_, tile.rows, tile.columns);
  }

  static constexpr unsigned kGammaFlag = kSets;  // the stages have those below

  AicorePort& port_;
  const RowsWork work_;
  Stages stages_;
  bool gamma_loaded_ = false;
  std::uint32_t used_ = 0;
  std::uint32_t gamma_ = 0;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t numbers_ = 0;  // of each row of a tile
};

}  // namespace npu::kernels::vector
