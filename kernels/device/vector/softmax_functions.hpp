// SPDX-License-Identifier: Apache-2.0
// Softmax of whole rows in vector functions: the largest of each row, exponentials of differences,
// their sum, quotients (docs/sources/950.md, N32). No number of a row goes to the scalar unit.
#pragma once

#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels::vector {

class SoftmaxFunctions {
 public:
  // Rows of a tile in UB; 0: not one.
  static std::uint32_t piece(AicorePort& port, const RowsWork& work) {
    constexpr std::uint64_t kKept = 1024;
    const std::uint64_t ub = port.buffer_size(LocalBuffer::kUb);
    if (ub <= kKept || work.columns > kLongest) return 0;
    const std::uint64_t row = kSets * (pitch(work, kTypeA) + pitch(work, kTypeC)) +
                              pitch(work, DataType::kFp32) + 2 * sizeof(float);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>((ub - kKept) / row, work.rows));
  }

  // At most `most` rows at a time.
  SoftmaxFunctions(AicorePort& port, const RowsWork& work, std::uint32_t most)
      : port_(port), work_(work), stages_(port) {
    const std::uint32_t numbers =
        aicore::round_up<std::uint32_t>(most * sizeof(float), aicore::kLocalAlignment);
    for (unsigned i = 0; i < kSets; ++i) in_[i] = take(most * pitch(work, kTypeA));
    for (unsigned i = 0; i < kSets; ++i) out_[i] = take(most * pitch(work, kTypeC));
    exponentials_ = take(most * pitch(work, kFloat));
    largest_ = take(numbers);
    sums_ = take(numbers);
  }

  void whole(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load_rows(port_, in_[i], {work_.from, work_.from_pitch}, tile, kTypeA);
    stages_.loaded(i);
    find_largest(i, tile);
    make_exponentials(i, tile);
    stages_.consumed(i);
    add_up(tile);
    const unsigned set = stages_.begin_result();
    divide(set, tile);
    stages_.computed(set);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, out_[set], kTypeC);
    stages_.stored(set);
  }

 private:
  static constexpr std::uint32_t kLongest = 16'384;  // columns; longer rows are taken in parts
  static constexpr DataType kFloat = DataType::kFp32;
  using Builder = FunctionBuilder<4>;

  static std::uint32_t pitch(const RowsWork& work, DataType type) {
    return aicore::row_bytes(work.columns, type);
  }
  std::uint32_t take(std::uint32_t bytes) {
    const std::uint32_t at = used_;
    used_ += bytes;
    return at;
  }

  // The loaded rows as fp32, in the register returned.
  std::uint8_t operand(Builder& function, unsigned i) const {
    function.load(0, in_[i], kTypeA, FunctionRows::kOwn, pitch(work_, kTypeA));
    return function.cast(1, kFloat, 0, kTypeA);
  }
  void find_largest(unsigned i, const AreaTile& tile) const {
    Builder function;
    function.op(VectorOp::kReduceMax, 2, operand(function, i));
    function.store(2, largest_, kFloat, FunctionRows::kNumber);
    function.issue(port_, tile.rows, tile.columns);
  }
  void make_exponentials(unsigned i, const AreaTile& tile) const {
    Builder function;
    const std::uint8_t x = operand(function, i);
    function.load(2, largest_, kFloat, FunctionRows::kNumber);
    function.op(VectorOp::kSub, 3, x, 2);
    function.op(VectorOp::kExp, 3, 3);
    function.store(3, exponentials_, kFloat, FunctionRows::kOwn, pitch(work_, kFloat));
    function.issue(port_, tile.rows, tile.columns);
  }
  void add_up(const AreaTile& tile) const {
    Builder function;
    function.load(0, exponentials_, kFloat, FunctionRows::kOwn, pitch(work_, kFloat));
    function.op(VectorOp::kReduceSum, 1, 0);
    function.store(1, sums_, kFloat, FunctionRows::kNumber);
    function.issue(port_, tile.rows, tile.columns);
  }
  void divide(unsigned set, const AreaTile& tile) const {
    Builder function;
    function.load(0, exponentials_, kFloat, FunctionRows::kOwn, pitch(work_, kFloat));
    function.load(1, sums_, kFloat, FunctionRows::kNumber);
    function.op(VectorOp::kDiv, 0, 0, 1);
    const std::uint8_t quotient = function.cast(2, kTypeC, 0, kFloat);
    function.store(quotient, out_[set], kTypeC, FunctionRows::kOwn, pitch(work_, kTypeC));
    function.issue(port_, tile.rows, tile.columns);
  }

  AicorePort& port_;
  const RowsWork work_;
  Stages stages_;
  std::uint32_t used_ = 0;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t exponentials_ = 0, largest_ = 0, sums_ = 0;
};

}  // namespace npu::kernels::vector
