// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/matrix_layout.hpp"

namespace npu::operators {
namespace {

// A fractal is 16 rows of 32 B (docs/sources/operators.md B1: zN, nZ).
constexpr std::uint64_t kFractalRows = 16;
constexpr std::uint64_t kFractalBytes = 32;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

constexpr bool is_turned(std::string_view layout) {
  return layout == "ColumnMajor" || layout == "nZ";
}
constexpr bool is_fractal(std::string_view layout) {
  return layout == "zN" || layout == "nZ";
}

}  // namespace

std::uint64_t stored_elements(std::string_view layout, platform::DataType type, std::uint64_t rows,
                              std::uint64_t columns) {
  if (!is_fractal(layout)) return rows * columns;
  const std::uint64_t across = kFractalBytes / platform::bytes_of(type);
  if (is_turned(layout)) return round_up(columns, kFractalRows) * round_up(rows, across);
  return round_up(rows, kFractalRows) * round_up(columns, across);
}

std::uint64_t stored_index(std::string_view layout, platform::DataType type, std::uint64_t rows,
                           std::uint64_t columns, std::uint64_t row, std::uint64_t column) {
  if (is_turned(layout)) {
    return stored_index(layout == "nZ" ? "zN" : "RowMajor", type, columns, rows, column, row);
  }
  if (!is_fractal(layout)) return row * columns + column;
  const std::uint64_t across = kFractalBytes / platform::bytes_of(type);
  return column / across * round_up(rows, kFractalRows) * across + row * across + column % across;
}

}  // namespace npu::operators
