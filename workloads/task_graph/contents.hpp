// SPDX-License-Identifier: Apache-2.0
// What stands in tensors: bytes for the card, and numbers for comparisons.
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/task_graph/graph_builder.hpp"

namespace npu::workloads {

// Row by row, whatever the tensor's tiles.
struct Matrix {
  std::uint64_t rows = 0, columns = 0;
  std::vector<float> values;

  float at(std::uint64_t row, std::uint64_t column) const { return values[row * columns + column]; }
};

// Of every element of the tensor. The error is the expression's.
model::ConfigResult<Matrix> evaluate(const GraphSpec& spec, const Tensor& tensor,
                                     const Contents& contents);

// In the tensor's type and order.
std::vector<std::byte> encode(const Tensor& tensor, const Matrix& matrix);
Matrix decode(const Tensor& tensor, const std::vector<std::byte>& bytes);

}  // namespace npu::workloads
