// SPDX-License-Identifier: Apache-2.0
// A matrix in global memory in any layout, and the copy of a part of it into a local buffer. There
// the part lies row by row as it is stored: transposed, if its layout is.
#pragma once

#include <type_traits>

#include "kernels/device/common/macros.hpp"
#include "npu/aicore/kernel.hpp"

namespace npu::kernels {

inline constexpr std::uint32_t kFractalRows = 16;

// Elements in a row of a fractal.
constexpr std::uint32_t fractal_columns(DataType type) {
  const auto bytes = static_cast<std::uint32_t>(platform::bytes_of(type));
  return bytes == 0 ? 1 : aicore::kLocalAlignment / bytes;
}

// An element type that is known when a kernel is compiled. One that is known when it runs is a
// DataType; templates take either.
template <DataType kType>
using Fixed = std::integral_constant<DataType, kType>;

// Part of a matrix, in elements.
struct Region {
  std::uint32_t row = 0, column = 0, rows = 0, columns = 0;
  constexpr Region turned() const { return {column, row, columns, rows}; }
};

template <Layout kLayout, class Type>
class Operand {
 public:
  static constexpr bool kTransposed = transposed(kLayout);
  static constexpr bool kFractal = fractal(kLayout);

  // `pitch`: elements from row to row, or from column to column if it is stored by columns.
  Operand(std::uint64_t address, std::uint32_t rows, std::uint32_t columns, std::uint64_t pitch,
          Type type = {})
      : address_(address), stored_rows_(kTransposed ? columns : rows), type_(type), pitch_(pitch) {}

  // Bytes from row to row in the local buffer.
  static constexpr std::uint32_t local_pitch(std::uint32_t rows, std::uint32_t columns,
                                             DataType type) {
    return aicore::row_bytes(kTransposed ? rows : columns, type);
  }
  static constexpr std::uint32_t local_bytes(std::uint32_t rows, std::uint32_t columns,
                                             DataType type) {
    return (kTransposed ? columns : rows) * local_pitch(rows, columns, type);
  }

  // In fractals, the region begins at a multiple of a fractal's columns as they are stored.
  void load(platform::AicorePort& port, platform::Local to, const Region& region) const {
    const Region part = kTransposed ? region.turned() : region;
    if constexpr (fractal(kLayout)) {
      load_fractals(port, to, part);
    } else {
      platform::CopyIn copy;
      copy.to = to;
      copy.from = address_ + (part.row * pitch_ + part.column) * bytes();
      copy.rows = part.rows;
      copy.row_bytes = part.columns * bytes();
      copy.from_pitch = pitch_ * bytes();
      copy.to_pitch = aicore::row_bytes(part.columns, type_);
      port.issue(copy);
    }
  }

 private:
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(platform::bytes_of(type_)); }

  // A column of fractals is dense in global memory, and 32 B wide in the local buffer's rows.
  void load_fractals(platform::AicorePort& port, platform::Local to, const Region& part) const {
    const std::uint32_t columns = fractal_columns(type_);
    const std::uint64_t strip =
        std::uint64_t{aicore::round_up(stored_rows_, kFractalRows)} * aicore::kLocalAlignment;
    platform::CopyIn copy;
    copy.to = to;
    copy.from = address_ + part.column / columns * strip +
                std::uint64_t{part.row} * aicore::kLocalAlignment;
    copy.rows = aicore::divide_up(part.columns, columns);
    copy.row_bytes = part.rows * aicore::kLocalAlignment;
    copy.from_pitch = strip;
    copy.to_pitch = aicore::row_bytes(part.columns, type_);
    copy.fractals = true;
    port.issue(copy);
  }

  std::uint64_t address_;
  std::uint32_t stored_rows_;
  Type type_;
  std::uint64_t pitch_;
};

}  // namespace npu::kernels
