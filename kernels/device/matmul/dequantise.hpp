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

class Dequantise {
 public:
  // Sums lie row by row. `bias`: of another type than theirs; 0: none.
  Dequantise(AicorePort& port, std::uint64_t sums, std::uint32_t m, std::uint32_t n,
             const Scales& scales, std::uint64_t bias, const GlobalRows& to)
      : port_(port), sums_{sums, n}, m_(m), n_(n), scales_(scales), bias_(bias), to_(to) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / kBuffers / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }
  void run() {
    Stages stages(port_);
    const AreaTile largest = largest_tile(m_, n_, space_, 4);
    for_area(port_.call(), m_, n_, largest, [&](const AreaTile& area) {
      const unsigned i = stages.begin_load();
      load(i, area);
      stages.loaded(i);
      scale(i, area);
      stages.consumed(i);
      const unsigned result = stages.begin_result();
      convert_rows(port_, out(result), kTypeC, work(), DataType::kFp32, area.rows, area.columns);
      stages.computed(result);
      store_rows(port_, to_, area, out(result), kTypeC);
      stages.stored(result);
    });
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

  void load(unsigned i, const AreaTile& area) {
    load_rows(port_, in(i), sums_, area, DataType::kInt32);
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
  const GlobalRows sums_;
  const std::uint32_t m_, n_;
  const Scales scales_;
  const std::uint64_t bias_;
  const GlobalRows to_;
  std::uint32_t space_ = 0;  // bytes of a buffer
};

}  // namespace npu::kernels::matmul
