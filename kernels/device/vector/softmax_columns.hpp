// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of a few elements: MTE2 makes them columns, so that one function handles as many
// rows at a time as a register has elements (docs/sources/950.md, N28 and N32). The vector unit
// makes rows of the results.
#pragma once

#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels::vector {

class SoftmaxColumns {
 public:
  // Rows of a tile in UB; 0: they are too long, or lie apart in global memory.
  static std::uint32_t piece(AicorePort& port, const RowsWork& work) {
    const bool dense = work.from_pitch == work.columns && work.to_pitch == work.columns;
    if (!port.has_transposing_copies() || !dense || work.columns > kMost) return 0;
    const std::uint64_t ub = port.buffer_size(LocalBuffer::kUb);
    const std::uint64_t row =
        work.columns * (kSets * (bytes(kTypeA) + bytes(kTypeC)) + bytes(kTypeC));
    const std::uint64_t rows = ub / row / kGrain * kGrain;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(rows, aicore::round_up(work.rows, kGrain)));
  }

  // At most `most` rows at a time, whole 32 B of elements.
  SoftmaxColumns(AicorePort& port, const RowsWork& work, std::uint32_t most)
      : port_(port), work_(work), most_(most), stages_(port) {
    const std::uint32_t elements = most * work.columns;
    for (unsigned i = 0; i < kSets; ++i) in_[i] = take(elements * bytes(kTypeA));
    for (unsigned i = 0; i < kSets; ++i) out_[i] = take(elements * bytes(kTypeC));
    columns_ = take(elements * bytes(kTypeC));
  }

  void whole(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load(i, tile);
    stages_.loaded(i);
    if (!made_) make_steps();
    compute(i, tile.rows);
    stages_.consumed(i);
    const unsigned set = stages_.begin_result();
    make_rows(set, tile.rows);
    stages_.computed(set);
    store_rows(port_, {work_.to, 0}, {0, tile.row * work_.columns, 1, tile.rows * work_.columns},
               out_[set], kTypeC);
    stages_.stored(set);
  }

 private:
  static constexpr std::uint32_t kMost =
      14;  // columns: with two numbers, twice what registers hold
  static constexpr std::uint32_t kGrain = 32;  // rows: whole 32 B of every type
  static constexpr DataType kFloat = DataType::kFp32;
  static constexpr std::uint8_t kLargest = 30, kSum = 31, kValues = 15;  // registers

  static constexpr std::uint32_t bytes(DataType type) {
    return static_cast<std::uint32_t>(platform::bytes_of(type));
  }
  std::uint32_t take(std::uint32_t size) {
    const std::uint32_t at = used_;
    used_ += size;
    return at;
  }

  void load(unsigned i, const AreaTile& tile) const {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, in_[i]};
    copy.from = work_.from + tile.row * work_.columns * bytes(kTypeA);
    copy.rows = tile.rows;
    copy.row_bytes = work_.columns * bytes(kTypeA);
    copy.from_pitch = copy.row_bytes;
    copy.to_pitch = most_ * bytes(kTypeA);
    copy.element = bytes(kTypeA);
    port_.issue(copy);
  }

  // Column k is loaded to register k and stored from there or from where it is in fp32.
  std::uint8_t value(std::uint32_t column) const {
    return static_cast<std::uint8_t>(kTypeA == kFloat ? column : kValues + column);
  }
  void make_steps() {
    made_ = true;
    for (std::uint32_t k = 0; k < work_.columns; ++k) {
      function_.cast(value(k), kFloat, static_cast<std::uint8_t>(k), kTypeA);
    }
    combine(VectorOp::kMax, kLargest);
    for (std::uint32_t k = 0; k < work_.columns; ++k) {
      function_.op(VectorOp::kSub, value(k), value(k), kLargest);
      function_.op(VectorOp::kExp, value(k), value(k));
    }
    combine(VectorOp::kAdd, kSum);
    for (std::uint32_t k = 0; k < work_.columns; ++k) {
      function_.op(VectorOp::kDiv, value(k), value(k), kSum);
      result_[k] = function_.cast(static_cast<std::uint8_t>(kTypeA == kFloat ? kValues + k : k),
                                  kTypeC, value(k), kFloat);
    }
  }
  void combine(VectorOp op, std::uint8_t to) {
    if (work_.columns == 1) return function_.op(VectorOp::kCopy, to, value(0));
    function_.op(op, to, value(0), value(1));
    for (std::uint32_t k = 2; k < work_.columns; ++k) function_.op(op, to, to, value(k));
  }
  void compute(unsigned i, std::uint32_t rows) {
    function_.drop_tensors();
    for (std::uint32_t k = 0; k < work_.columns; ++k) {
      function_.load(static_cast<std::uint8_t>(k), in_[i] + k * most_ * bytes(kTypeA), kTypeA);
      function_.store(result_[k], columns_ + k * most_ * bytes(kTypeC), kTypeC);
    }
    function_.issue(port_, 1, rows);
  }
  void make_rows(unsigned set, std::uint32_t rows) const {
    Vector v;
    v.op = VectorOp::kTranspose;
    v.type = v.to_type = kTypeC;
    v.to = out_[set];
    v.a = columns_;
    v.rows = work_.columns;
    v.count = rows;
    v.a_pitch = most_ * bytes(kTypeC);
    port_.issue(v);
  }

  AicorePort& port_;
  const RowsWork work_;
  const std::uint32_t most_;
  Stages stages_;
  FunctionBuilder<7 * kMost, kMost, kMost> function_;
  bool made_ = false;
  std::uint8_t result_[kMost] = {};  // registers of the quotients
  std::uint32_t used_ = 0;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {};
  std::uint32_t columns_ = 0;
};

}  // namespace npu::kernels::vector
