// SPDX-License-Identifier: Apache-2.0
// Reals from int32 sums in the workspace, on vector cores: converted to fp32, scaled row by row,
// column by column and as a whole, and rounded once more. A bias that is no int32 is added last.
#pragma once

#include "kernels/device/common/stages.hpp"
#include "kernels/device/matmul/types.hpp"

namespace npu::kernels::matmul {

static_assert(kTypeA == DataType::kInt8,
              "a quantised product is one of int8: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_B");
static_assert(is_real(kTypeC),
              "a quantised product becomes half, bfloat16 or float: NPU_JIT_ELEMENT_C is none");

static_assert(kTypeBias == DataType::kInt32 || is_real(kTypeBias),
              "a quantised product's bias is int32, half, bfloat16 or float: NPU_JIT_ELEMENT_BIAS");

struct Scales {
  std::uint64_t columns = 0, rows = 0;  // fp32 in global memory; 0: none
  float all = 1;
  std::uint32_t reserved = 0;
};
inline constexpr bool kRealBias = is_real(kTypeBias);

// Tiles of C, each from rows of sums.
class Dequantise {
 public:
  Dequantise(AicorePort& port, const Scales& scales) : port_(port), scales_(scales), stages_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / kBuffers / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }
  // Rows and columns of C `tile`, which lies at `to` of one matrix; its sums begin at `sums`.
  // `bias`: of its columns; 0: none.
  void run(const GlobalRows& sums, const AreaTile& tile, std::uint64_t bias, const GlobalRows& to) {
    if (tile.rows == 0) return;
    const AreaTile largest = largest_tile(tile.rows, tile.columns, space_, 4);
    for (std::uint32_t row = 0; row < tile.rows; row += largest.rows) {
      for (std::uint32_t column = 0; column < tile.columns; column += largest.columns) {
        const AreaTile part{tile.row + row, tile.column + column,
                            std::min(largest.rows, tile.rows - row),
                            std::min(largest.columns, tile.columns - column)};
        const std::uint64_t from = sums.address + (row * sums.pitch + column) * 4;
        piece({from, sums.pitch}, part, bias, to);
      }
    }
  }

 private:
  // Sums, scales of columns and of rows, results; what is worked on; the bias and its fp32.
  static constexpr std::uint32_t kBuffers = 4 * kSets + 1 + (kRealBias ? kSets + 1 : 0);
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t of_columns(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t of_rows(unsigned i) const { return (2 * kSets + i) * space_; }
  std::uint32_t out(unsigned i) const { return (3 * kSets + i) * space_; }
  std::uint32_t work() const { return 4 * kSets * space_; }
  std::uint32_t bias() const { return (4 * kSets + 1) * space_; }
  std::uint32_t loaded_bias(unsigned i) const { return (4 * kSets + 2 + i) * space_; }

  void piece(const GlobalRows& sums, const AreaTile& area, std::uint64_t bias,
             const GlobalRows& to) {
    bias_ = bias;
    const unsigned i = stages_.begin_load();
    load_rows(port_, in(i), sums, {0, 0, area.rows, area.columns}, DataType::kInt32);
    load(i, area);
    stages_.loaded(i);
    scale(i, area);
    stages_.consumed(i);
    const unsigned result = stages_.begin_result();
    convert_rows(port_, out(result), kTypeC, work(), DataType::kFp32, area.rows, area.columns);
    stages_.computed(result);
    store_rows(port_, to, area, out(result), kTypeC);
    stages_.stored(result);
  }
  void load(unsigned i, const AreaTile& area) {
    if (scales_.columns != 0) {
      load_rows(port_, of_columns(i), {scales_.columns, 0}, {0, area.column, 1, area.columns},
                DataType::kFp32);
    }
    if (scales_.rows != 0) {
      load_rows(port_, of_rows(i), {scales_.rows, 0}, {0, area.row, 1, area.rows}, DataType::kFp32);
    }
    if constexpr (kRealBias) {
      if (bias_ == 0) return;
      load_rows(port_, loaded_bias(i), {bias_, 0}, {0, area.column, 1, area.columns}, kTypeBias);
    }
  }
  void scale(unsigned i, const AreaTile& area) {
    convert_rows(port_, work(), DataType::kFp32, in(i), DataType::kInt32, area.rows, area.columns);
    element_op(port_, VectorOp::kMuls, work(), work(), area, scales_.all);
    if (scales_.rows != 0) {
      row_op(port_, VectorOp::kBroadcastMul, work(), work(), of_rows(i), area);
    }
    if (scales_.columns != 0) {
      each_row(VectorOp::kMul, of_columns(i), area);
    }
    if constexpr (kRealBias) {
      if (bias_ == 0) return;
      convert_rows(port_, bias(), DataType::kFp32, loaded_bias(i), kTypeBias, 1, area.columns);
      each_row(VectorOp::kAdd, bias(), area);
    }
  }
  // Each row of what is worked on op the one row `by`.
  void each_row(VectorOp op, std::uint32_t by, const AreaTile& area) {
    const std::uint32_t pitch = aicore::row_bytes(area.columns, DataType::kFp32);
    for (std::uint32_t row = 0; row < area.rows; ++row) {
      const std::uint32_t at = work() + row * pitch;
      Vector v = row_vector(op, DataType::kFp32, at, at, 1, area.columns);
      v.b = by;
      port_.issue(v);
    }
  }

  AicorePort& port_;
  const Scales scales_;
  Stages stages_;
  std::uint64_t bias_ = 0;
  std::uint32_t space_ = 0;  // bytes of a buffer
};

}  // namespace npu::kernels::matmul
