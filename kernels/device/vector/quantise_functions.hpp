// SPDX-License-Identifier: Apache-2.0
// Rows into int8 with a scale each in vector functions: the largest size of each row, scales and
// factors of all rows of a tile, products. No number of a row goes to the scalar unit.
#pragma once

#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/quantise.hpp"

namespace npu::kernels::vector {

class QuantiseFunctions {
 public:
  static constexpr std::uint32_t kRowBytes = 2 * 4;  // of UB, of a tile's row

  QuantiseFunctions(AicorePort& port, aicore::UbParts& ub, std::uint32_t rows) : port_(port) {
    largest_ = ub.take(rows * kFp32);
    factors_ = ub.take(rows * kFp32);
  }

  // The function's part that finds the largest size of what register `x` has; `size`: one more.
  // As integers NaNs are above all numbers.
  template <class Builder>
  void find_largest(Builder& function, std::uint8_t size, std::uint8_t x) const {
    function.op(VectorOp::kAbs, size, x);
    FunctionStep step;
    step.op = VectorOp::kReduceMax;
    step.type = step.to_type = DataType::kInt32;
    step.to = step.a = size;
    function.step(step);
    function.store(size, largest_, DataType::kInt32, FunctionRows::kNumber);
  }
  void make_scales(std::uint32_t scales, std::uint32_t rows) const {
    FunctionBuilder<3> function;
    function.load(0, largest_, DataType::kFp32);
    function.op(VectorOp::kDuplicate, 1, 0, 0, kMostInt8);
    function.op(VectorOp::kDiv, 1, 1, 0);
    function.op(VectorOp::kMuls, 0, 0, 0, 1 / kMostInt8);
    function.store(0, scales, DataType::kFp32);
    function.store(1, factors_, DataType::kFp32);
    function.issue(port_, 1, rows);
  }
  // Each row of `type` by its factor. The unit converts fp32 to int8 by way of int32 and fp16.
  void quantise(std::uint32_t to, std::uint32_t from, DataType type, std::uint32_t rows,
                std::uint32_t columns) const {
    FunctionBuilder<5> function;
    function.load(0, from, type, FunctionRows::kOwn, aicore::row_bytes(columns, type));
    function.load(1, factors_, DataType::kFp32, FunctionRows::kNumber);
    function.op(VectorOp::kMul, 2, function.cast(2, DataType::kFp32, 0, type), 1);
    function.cast(3, DataType::kInt32, 2, DataType::kFp32);
    function.cast(4, DataType::kFp16, 3, DataType::kInt32);
    function.cast(5, DataType::kInt8, 4, DataType::kFp16);
    function.store(5, to, DataType::kInt8, FunctionRows::kOwn,
                   aicore::row_bytes(columns, DataType::kInt8));
    function.issue(port_, rows, columns);
  }

 private:
  static constexpr std::uint32_t kFp32 = 4;  // bytes
  AicorePort& port_;
  std::uint32_t largest_ = 0, factors_ = 0;
};

}  // namespace npu::kernels::vector
