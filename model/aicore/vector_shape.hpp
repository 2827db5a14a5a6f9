// SPDX-License-Identifier: Apache-2.0
// Which rows of UB a vector instruction (platform/aicore_port.hpp) reads and writes.
#pragma once

#include "model/aicore/vector_operators.hpp"
#include "npu/platform/aicore_port.hpp"

namespace npu::model {

struct VectorShape {
  Bytes results = 0;  // rows of the result
  Bytes to_row = 0;   // bytes of each
  // Bytes of a row of what is read; 0: there is none.
  Bytes a_row = 0, b_row = 0, mask_row = 0;
};

constexpr Bytes mask_bytes(Bytes elements) {
  return (elements + 7) / 8;
}

inline Bytes result_row(const platform::Vector& vector, VectorResult result) {
  const Bytes element = bytes_of(vector.type);
  switch (result) {
    case VectorResult::kRow:
    case VectorResult::kMoved:
      return vector.count * element;
    case VectorResult::kElement:
      return element;
    case VectorResult::kMask:
      return mask_bytes(vector.count);
    case VectorResult::kOtherType:
      return vector.count * bytes_of(vector.to_type);
    case VectorResult::kTransposed:
      return vector.rows * element;
  }
  return 0;
}

inline VectorShape shape_of(const platform::Vector& vector) {
  using arithmetic::SecondOperand;
  const VectorOperator& op = operator_of(vector.op);
  const Bytes element = bytes_of(vector.type);
  const Bytes row = vector.count * element;
  VectorShape shape{vector.rows, result_row(vector, op.result), op.reads_a ? row : 0, 0, 0};
  if (op.second == SecondOperand::kRow) shape.b_row = row;
  if (op.second == SecondOperand::kElement) shape.b_row = element;
  if (op.reads_mask) shape.mask_row = mask_bytes(vector.count);
  if (op.result == VectorResult::kTransposed) shape.results = vector.count;
  return shape;
}

}  // namespace npu::model
