// SPDX-License-Identifier: Apache-2.0
// Which rows of UB a vector instruction (platform/aicore_port.hpp) reads and writes.
#pragma once

#include "npu/platform/aicore_port.hpp"

namespace npu::model {

struct VectorShape {
  Bytes results = 0;  // rows of the result
  Bytes to_row = 0;   // bytes of each
  // Bytes of a row of what is read; 0: there is none.
  Bytes a_row = 0, b_row = 0, mask_row = 0;
};

constexpr bool reduces(platform::VectorOp op) {
  using platform::VectorOp;
  return op == VectorOp::kReduceSum || op == VectorOp::kReduceMax || op == VectorOp::kReduceMin;
}
constexpr bool broadcasts(platform::VectorOp op) {
  using platform::VectorOp;
  return op >= VectorOp::kBroadcastSub && op <= VectorOp::kBroadcastDiv;
}
constexpr bool compares(platform::VectorOp op) {
  return op == platform::VectorOp::kCompare || op == platform::VectorOp::kCompares;
}
constexpr bool selects(platform::VectorOp op) {
  return op == platform::VectorOp::kSelect || op == platform::VectorOp::kSelects;
}
// `b` has as many elements as `a`.
constexpr bool has_second_row(platform::VectorOp op) {
  using platform::VectorOp;
  return op <= VectorOp::kMin || op == VectorOp::kAnd || op == VectorOp::kOr ||
         op == VectorOp::kCompare || op == VectorOp::kSelect;
}

constexpr Bytes mask_bytes(Bytes elements) {
  return (elements + 7) / 8;
}

constexpr VectorShape shape_of(const platform::Vector& vector) {
  using platform::VectorOp;
  const Bytes element = bytes_of(vector.type);
  const Bytes row = vector.count * element;
  VectorShape shape{vector.rows, row, row, 0, 0};
  if (vector.op == VectorOp::kDuplicate) shape.a_row = 0;
  if (has_second_row(vector.op)) shape.b_row = row;
  if (broadcasts(vector.op)) shape.b_row = element;
  if (reduces(vector.op)) shape.to_row = element;
  if (vector.op == VectorOp::kCast) shape.to_row = vector.count * bytes_of(vector.to_type);
  if (compares(vector.op)) shape.to_row = mask_bytes(vector.count);
  if (selects(vector.op)) shape.mask_row = mask_bytes(vector.count);
  if (vector.op == VectorOp::kTranspose) {
    shape.results = vector.count;
    shape.to_row = vector.rows * element;
  }
  return shape;
}

}  // namespace npu::model
