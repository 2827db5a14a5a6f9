// SPDX-License-Identifier: Apache-2.0
#include "workloads/task_graph/contents.hpp"

#include "workloads/programs/support/elements.hpp"

namespace npu::workloads {

model::ConfigResult<Matrix> evaluate(const GraphSpec& spec, const Tensor& tensor,
                                     const Contents& contents) {
  Matrix matrix{tensor.rows, tensor.columns, {}};
  if (!contents.expression) {
    matrix.values.assign(tensor.elements(), static_cast<float>(contents.number));
    return matrix;
  }
  matrix.values.reserve(tensor.elements());
  std::vector<std::int64_t> values = spec.values;
  values.resize(values.size() + 2);
  std::int64_t &row = values[values.size() - 2], &column = values.back();
  for (row = 0; row < static_cast<std::int64_t>(tensor.rows); ++row) {
    for (column = 0; column < static_cast<std::int64_t>(tensor.columns); ++column) {
      const auto value = contents.expression->expression.evaluate(values);
      if (!value) {
        SourcePlace place = contents.expression->place;
        place.column += static_cast<int>(value.error().offset);
        return tl::unexpected(
            model::error_at(place, "tensors." + tensor.spec->name, value.error().problem));
      }
      matrix.values.push_back(static_cast<float>(static_cast<double>(*value) / contents.over));
    }
  }
  return matrix;
}

std::vector<std::byte> encode(const Tensor& tensor, const Matrix& matrix) {
  std::vector<std::byte> bytes(tensor.bytes());
  std::uint64_t i = 0;
  for (std::uint64_t row = 0; row < tensor.rows; ++row) {
    for (std::uint64_t column = 0; column < tensor.columns; ++column) {
      store_element(tensor.spec->type, bytes.data(), tensor.offset(row, column),
                    matrix.values[i++]);
    }
  }
  return bytes;
}

Matrix decode(const Tensor& tensor, const std::vector<std::byte>& bytes) {
  Matrix matrix{tensor.rows, tensor.columns, {}};
  matrix.values.reserve(tensor.elements());
  for (std::uint64_t row = 0; row < tensor.rows; ++row) {
    for (std::uint64_t column = 0; column < tensor.columns; ++column) {
      matrix.values.push_back(static_cast<float>(
          load_element(tensor.spec->type, bytes.data(), tensor.offset(row, column))));
    }
  }
  return matrix;
}

}  // namespace npu::workloads
