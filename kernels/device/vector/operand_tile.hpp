// SPDX-License-Identifier: Apache-2.0
// An operand of a tile of rows that may be repeated along one axis or both: loaded once, cast, and
// repeated in UB.
#pragma once

#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

inline constexpr std::uint32_t kMostTileRows = 512;

// Elements from one to the next along an axis; 0: the same one.
struct OperandSteps {
  std::uint64_t row = 0, column = 0;
};

// Places in UB: `loaded` and `cast` hold a tile, `numbers` one element of each row in either type.
struct OperandPlaces {
  std::uint32_t loaded = 0, cast = 0;
  std::uint32_t numbers = 0, cast_numbers = 0;
};

class OperandTile {
 public:
  // `tile`: its rows, columns and pitch are those in UB.
  OperandTile(AicorePort& port, DataType type, DataType computed, const OperandSteps& steps,
              const RowTile& tile)
      : port_(port), type_(type), computed_(computed), steps_(steps), tile_(tile) {}

  void load(const OperandPlaces& to, std::uint64_t from) const {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, a_number_each() ? to.numbers : to.loaded};
    copy.from = from;
    const bool all = steps_.row != 0 && steps_.column != 0;
    copy.rows = all ? tile_.rows : 1;
    copy.row_bytes = length() * size_of(type_);
    copy.from_pitch = copy.rows == 1 ? 0 : steps_.row * size_of(type_);
    copy.to_pitch = tile_.pitch * size_of(type_);
    port_.issue(copy);
  }

  // Where the whole tile lies in the type that is computed in.
  std::uint32_t make(const OperandPlaces& at) const {
    const bool casts = type_ != computed_;
    const std::uint32_t tile = casts ? at.cast : at.loaded;
    if (!a_number_each()) {
      const std::uint32_t count = steps_.row == 0 ? tile_.pitch : tile_.count();
      if (casts) convert_rows(port_, tile, computed_, at.loaded, type_, 1, count);
      if (steps_.row == 0) repeat(tile);
      return tile;
    }
    if (casts) convert_rows(port_, at.cast_numbers, computed_, at.numbers, type_, 1, length());
    const bool one = steps_.row == 0;
    Vector v = row_vector(VectorOp::kBroadcast, computed_, tile, 0, one ? 1 : tile_.rows,
                          one ? tile_.count() : tile_.columns);
    v.b = casts ? at.cast_numbers : at.numbers;
    v.to_pitch = tile_.pitch * size_of(computed_);
    port_.issue(v);
    return tile;
  }

 private:
  bool a_number_each() const { return steps_.column == 0; }
  // Elements of a row that is loaded.
  std::uint32_t length() const {
    if (!a_number_each()) return tile_.columns;
    return steps_.row == 0 ? 1 : tile_.rows;
  }
  // The first row to all others, twice as many each time.
  void repeat(std::uint32_t at) const {
    for (std::uint32_t rows = 1; rows < tile_.rows;) {
      const std::uint32_t more = std::min(rows, tile_.rows - rows);
      port_.issue(row_vector(VectorOp::kCopy, computed_,
                             at + rows * tile_.pitch * size_of(computed_), at, 1,
                             more * tile_.pitch));
      rows += more;
    }
  }

  AicorePort& port_;
  const DataType type_, computed_;
  const OperandSteps steps_;
  const RowTile tile_;
};

}  // namespace npu::kernels::vector
