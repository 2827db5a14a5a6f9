// SPDX-License-Identifier: Apache-2.0
// A vector function as a pipe holds it, and what is to be known of its tensors.
#pragma once

#include <memory>
#include <vector>

#include "npu/platform/vector_function.hpp"

namespace npu::model {

struct FunctionBody {
  explicit FunctionBody(const platform::VectorFunction& f)
      : loads(f.loads, f.loads + f.load_count),
        steps(f.steps, f.steps + f.step_count),
        stores(f.stores, f.stores + f.store_count),
        count(f.count),
        rows(f.rows),
        by_columns(f.by_columns) {}

  std::vector<platform::FunctionTensor> loads;
  std::vector<platform::FunctionStep> steps;
  std::vector<platform::FunctionTensor> stores;
  std::uint32_t count, rows;
  bool by_columns;
};

// Instructions are copied, what they are long is not.
struct HeldFunction {
  std::shared_ptr<const FunctionBody> body;
};

// Rows of a tensor in UB.
struct FunctionExtent {
  Bytes offset, rows, row, pitch;

  Bytes length() const { return rows == 0 ? 0 : (rows - 1) * pitch + row; }
  bool meets(const FunctionExtent& other) const {
    return offset < other.offset + other.length() && other.offset < offset + length();
  }
};

inline FunctionExtent extent_of(const platform::FunctionTensor& tensor, std::uint32_t count,
                                std::uint32_t rows) {
  const Bytes element = bytes_of(tensor.type);
  if (tensor.rows == platform::FunctionRows::kNumber) {
    return {tensor.offset, rows, element, element};
  }
  const Bytes row = count * element;
  if (tensor.rows == platform::FunctionRows::kShared) return {tensor.offset, 1, row, 0};
  return {tensor.offset, rows, row, tensor.pitch == 0 ? row : tensor.pitch};
}

}  // namespace npu::model
