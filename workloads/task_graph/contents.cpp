// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/contents.hpp"

#include <algorithm>

#include "workloads/programs/support/elements.hpp"
#include "workloads/task_graph/expression_row.hpp"

namespace npu::workloads {
namespace {

constexpr std::uint64_t kLanes = 256;  // elements evaluated at a time

// Of the first element that has no value, from the column in `values` on.
model::ConfigError mistake(const Tensor& tensor, const Contents& contents,
                           std::vector<std::int64_t>& values) {
  const auto& [expression, place] = *contents.expression;
  auto value = expression.evaluate(values);
  for (; value; value = expression.evaluate(values)) ++values.back();
  SourcePlace at = place;
  at.column += static_cast<int>(value.error().offset);
  return model::error_at(at, "tensors." + tensor.spec->name, value.error().problem);
}

// Calls use(byte, element) for each row of each tile: where it begins in the tensor, and in a
// matrix.
template <class Use>
void each_piece(const Tensor& tensor, Use use) {
  if (tensor.elements() == 0) return;
  const Bytes size = platform::bytes_of(tensor.spec->type);
  for (std::uint64_t row = 0; row < tensor.rows; ++row) {
    for (std::uint64_t column = 0; column < tensor.columns; column += tensor.tile_columns) {
      use(tensor.offset(row, column) * size, row * tensor.columns + column);
    }
  }
}

}  // namespace

model::ConfigResult<Matrix> evaluate(const GraphSpec& spec, const Tensor& tensor,
                                     const Contents& contents) {
  Matrix matrix{tensor.rows, tensor.columns, {}};
  if (!contents.expression) {
    matrix.values.assign(tensor.elements(), static_cast<float>(contents.number));
    return matrix;
  }
  matrix.values.resize(tensor.elements());
  std::vector<std::int64_t> values = spec.values;
  values.resize(values.size() + 2);
  std::int64_t& row = values[values.size() - 2];
  ExpressionRow expression(contents.expression->expression, kLanes);
  float* to = matrix.values.data();
  for (row = 0; row < static_cast<std::int64_t>(tensor.rows); ++row) {
    for (std::uint64_t column = 0; column < tensor.columns; column += kLanes) {
      values.back() = static_cast<std::int64_t>(column);
      const std::uint64_t count = std::min(kLanes, tensor.columns - column);
      const auto* const numbers = expression.evaluate(values, count);
      if (numbers == nullptr) return tl::unexpected(mistake(tensor, contents, values));
      for (std::uint64_t i = 0; i < count; ++i) {
        *to++ = static_cast<float>(static_cast<double>(numbers[i]) / contents.over);
      }
    }
  }
  return matrix;
}

std::vector<std::byte> encode(const Tensor& tensor, const Matrix& matrix) {
  std::vector<std::byte> bytes(tensor.bytes());
  each_piece(tensor, [&](std::uint64_t offset, std::uint64_t element) {
    store_elements(tensor.spec->type, bytes.data() + offset, tensor.tile_columns,
                   matrix.values.data() + element);
  });
  return bytes;
}

Matrix decode(const Tensor& tensor, const std::vector<std::byte>& bytes) {
  Matrix matrix{tensor.rows, tensor.columns, std::vector<float>(tensor.elements())};
  each_piece(tensor, [&](std::uint64_t offset, std::uint64_t element) {
    load_elements(tensor.spec->type, bytes.data() + offset, tensor.tile_columns,
                  matrix.values.data() + element);
  });
  return matrix;
}

}  // namespace npu::workloads
