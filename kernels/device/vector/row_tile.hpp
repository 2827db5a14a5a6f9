// SPDX-License-Identifier: Apache-2.0
// Rows in UB at one distance whatever their type, so that they are one long row to instructions
// that look at each element by itself; and the instructions on them.
#pragma once

#include <cstring>

#include "kernels/device/common/stages.hpp"

namespace npu::kernels::vector {

constexpr std::uint32_t size_of(DataType type) {
  return static_cast<std::uint32_t>(platform::bytes_of(type));
}

inline constexpr std::uint32_t kRepeat = 64;  // elements of fp32 in a repeat of the vector unit

// Columns of a matrix of rows without gaps.
struct Columns {
  std::uint64_t address = 0;
  std::uint64_t length = 0;  // elements of a row of the matrix
  std::uint64_t first = 0;   // the column where the tile begins
};

struct RowTile {
  std::uint64_t first = 0;  // row of the matrix
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t pitch = 0;  // elements from row to row in UB

  std::uint32_t count() const { return rows * pitch; }
};

// Whole rows without gaps on both sides are one block.
inline void load_tile(AicorePort& port, std::uint32_t to, const Columns& from, const RowTile& tile,
                      DataType type) {
  const std::uint32_t bytes = size_of(type);
  const bool one = tile.rows == 1 || (tile.columns == from.length && tile.columns == tile.pitch);
  platform::CopyIn copy;
  copy.to = {LocalBuffer::kUb, to};
  copy.from = from.address + (tile.first * from.length + from.first) * bytes;
  copy.rows = one ? 1 : tile.rows;
  copy.row_bytes = (one ? tile.rows * tile.columns : tile.columns) * bytes;
  copy.from_pitch = one ? 0 : from.length * bytes;
  copy.to_pitch = one ? 0 : tile.pitch * bytes;
  port.issue(copy);
}

inline void store_tile(AicorePort& port, const Columns& to, const RowTile& tile, std::uint32_t from,
                       DataType type) {
  const std::uint32_t bytes = size_of(type);
  const bool one = tile.rows == 1 || (tile.columns == to.length && tile.columns == tile.pitch);
  platform::CopyOut copy;
  copy.to = to.address + (tile.first * to.length + to.first) * bytes;
  copy.from = {LocalBuffer::kUb, from};
  copy.rows = one ? 1 : tile.rows;
  copy.row_bytes = (one ? tile.rows * tile.columns : tile.columns) * bytes;
  copy.to_pitch = one ? 0 : to.length * bytes;
  copy.from_pitch = one ? 0 : tile.pitch * bytes;
  port.issue(copy);
}

// A number of each row.
inline void store_numbers(AicorePort& port, std::uint64_t to, std::uint64_t first,
                          std::uint32_t from, std::uint32_t rows) {
  store_tile(port, {to, 1, 0}, {first, rows, 1, 1}, from, DataType::kFp32);
}

// Instructions on `count` elements of fp32.
class Flat {
 public:
  Flat(AicorePort& port, std::uint32_t count) : port_(port), count_(count) {}

  // to = op a, a op b
  void issue(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b = 0) const {
    Vector v = row_vector(op, DataType::kFp32, to, a, 1, count_);
    v.b = b;
    port_.issue(v);
  }
  // to = a op scalar
  void scalar(VectorOp op, std::uint32_t to, std::uint32_t a, float scalar) const {
    Vector v = row_vector(op, DataType::kFp32, to, a, 1, count_);
    v.scalar = scalar;
    port_.issue(v);
  }
  void cast(std::uint32_t to, DataType to_type, std::uint32_t from, DataType type) const {
    convert_rows(port_, to, to_type, from, type, 1, count_);
  }
  // to = x / (1 + exp(-x)), `to` apart from x.
  void silu(std::uint32_t to, std::uint32_t x) const {
    scalar(VectorOp::kMuls, to, x, -1);
    issue(VectorOp::kExp, to, to);
    scalar(VectorOp::kAdds, to, to, 1);
    issue(VectorOp::kDiv, to, x, to);
  }

 private:
  AicorePort& port_;
  const std::uint32_t count_;
};

// Instructions that are made once and issued for each tile: between them the scalar unit has no
// time to spare.
template <unsigned kMost>
class VectorList {
 public:
  void clear() { count_ = 0; }
  Vector& add(const Vector& vector) { return all_[count_++] = vector; }
  // to = op a, a op b or a op scalar, of `count` elements of fp32
  Vector& add(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b, std::uint32_t count,
              float scalar = 0) {
    Vector& v = add(row_vector(op, DataType::kFp32, to, a, 1, count));
    v.b = b;
    v.scalar = scalar;
    return v;
  }
  void cast(std::uint32_t to, DataType to_type, std::uint32_t from, DataType type,
            std::uint32_t count) {
    Vector& v = add(row_vector(VectorOp::kCast, type, to, from, 1, count));
    v.to_type = to_type;
  }
  Vector& last() { return all_[count_ - 1]; }
  void issue(AicorePort& port) const {
    for (unsigned i = 0; i < count_; ++i) port.issue(all_[i]);
  }

 private:
  Vector all_[kMost];
  unsigned count_ = 0;
};

// From the vector unit to the scalar unit and back.
class ScalarTrip {
 public:
  explicit ScalarTrip(AicorePort& port) : port_(port) {}
  // The number that the vector unit leaves there.
  float read(std::uint32_t offset) const {
    const Flag<Pipe::kVector, Pipe::kScalar> made(port_, 0);
    made.set();
    made.wait();
    const std::uint32_t bits = port_.load_ub(offset);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  // Vector instructions from here on come behind what the scalar unit has done.
  void end() const {
    const Flag<Pipe::kScalar, Pipe::kVector> known(port_, 0);
    known.set();
    known.wait();
  }

 private:
  AicorePort& port_;
};

}  // namespace npu::kernels::vector
