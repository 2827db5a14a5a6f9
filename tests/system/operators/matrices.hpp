// SPDX-License-Identifier: Apache-2.0
// Matrices in every layout, and what a product of them is, in double precision.
#pragma once

#include <cstdlib>
#include <random>
#include <string>

#include "tests/system/operators/numbers.hpp"
#include "tests/system/operators/operator_bench.hpp"

namespace npu::test {

struct Values {
  std::uint64_t rows = 0, columns = 0;
  std::vector<double> elements;  // row by row

  Values(std::uint64_t row_count, std::uint64_t column_count)
      : rows(row_count), columns(column_count), elements(row_count * column_count) {}
  double& at(std::uint64_t row, std::uint64_t column) { return elements[row * columns + column]; }
  double at(std::uint64_t row, std::uint64_t column) const {
    return elements[row * columns + column];
  }
};

using Dice = std::mt19937_64;

// Of an operator on one kind of cores; NPU_OPERATOR_SHAPES for more.
inline unsigned shapes_at_random() {
  const char* const wanted = std::getenv("NPU_OPERATOR_SHAPES");
  return wanted == nullptr ? 100 : static_cast<unsigned>(std::atoi(wanted));
}

inline std::uint32_t number(Dice& dice, std::uint32_t least, std::uint32_t most) {
  return least + static_cast<std::uint32_t>(dice() % (std::uint64_t{most} - least + 1));
}
// In [-1, 1], or all of int8, or a little of the larger integers.
inline double element(Dice& dice, DataType type) {
  const double share = static_cast<double>(dice() >> 11) * 0x1p-52 - 1;
  if (is_real(type)) return rounded(type, share);
  return type == DataType::kInt8 ? static_cast<double>(number(dice, 0, 255)) - 128
                                 : static_cast<double>(number(dice, 0, 20'000)) - 10'000;
}
inline Values random_values(Dice& dice, DataType type, std::uint64_t rows, std::uint64_t columns) {
  Values values(rows, columns);
  for (double& value : values.elements) value = element(dice, type);
  return values;
}

// Where element (row, column) lies in elements, and how many elements there are with the padding.
inline std::uint64_t place_of(const std::string& layout, DataType type, const Values& shape,
                              std::uint64_t pitch, std::uint64_t row, std::uint64_t column) {
  const std::uint64_t small = 32 / platform::bytes_of(type);
  if (layout == "RowMajor") return row * pitch + column;
  if (layout == "ColumnMajor") return column * pitch + row;
  const auto zn = [&](std::uint64_t rows, std::uint64_t r, std::uint64_t c) {
    return c / small * ((rows + 15) / 16 * 16 * small) + r * small + c % small;
  };
  return layout == "zN" ? zn(shape.rows, row, column) : zn(shape.columns, column, row);
}
inline std::vector<unsigned char> packed(const Values& values, const std::string& layout,
                                         DataType type, std::uint64_t pitch) {
  std::uint64_t most = 0;
  const std::uint64_t bytes = platform::bytes_of(type);
  for (std::uint64_t r = 0; r < values.rows; ++r) {
    for (std::uint64_t c = 0; c < values.columns; ++c) {
      most = std::max(most, place_of(layout, type, values, pitch, r, c) + 1);
    }
  }
  const bool fractals = layout == "zN" || layout == "nZ";
  const std::uint64_t grain = fractals ? 512 / bytes : 1;
  // What is no element is no number either.
  std::vector<unsigned char> result((most + grain - 1) / grain * grain * bytes, 0xFF);
  for (std::uint64_t r = 0; r < values.rows; ++r) {
    for (std::uint64_t c = 0; c < values.columns; ++c) {
      put_element(result, place_of(layout, type, values, pitch, r, c), type, values.at(r, c));
    }
  }
  return result;
}

// Sums of products and of their sizes over [first, end) of k.
struct Exact {
  double sum = 0, size = 0;
};
inline Exact exact_element(const Values& a, const Values& b, std::uint64_t row,
                           std::uint64_t column, std::uint64_t first, std::uint64_t end) {
  Exact exact;
  for (std::uint64_t k = first; k < end; ++k) {
    const double product = a.at(row, k) * b.at(k, column);
    exact.sum += product;
    exact.size += std::fabs(product);
  }
  return exact;
}
// n roundings of fp32 on sums of that size: n u / (1 - n u).
inline double error_of_sums(double size, std::uint64_t roundings) {
  const double all = static_cast<double>(roundings) * 0x1p-24;
  return std::isfinite(size) ? size * all / (1 - all) : 0;
}

}  // namespace npu::test
