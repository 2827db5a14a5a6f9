// SPDX-License-Identifier: Apache-2.0
// Rows of fp32 in UB as int8 with a scale each: scale = largest / 127, result = x * (127 /
// largest).
#pragma once

#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

inline constexpr float kMostInt8 = 127;

// The largest of each row's sizes, `sizes` without signs. As integers NaNs are above all numbers.
inline void largest_sizes(AicorePort& port, std::uint32_t to, std::uint32_t sizes,
                          const RowTile& tile) {
  Vector v = row_vector(VectorOp::kReduceMax, DataType::kInt32, to, sizes, tile.rows, tile.columns);
  v.a_pitch = tile.pitch * size_of(DataType::kFp32);
  v.to_pitch = 0;
  port.issue(v);
}

// A number of each row for all of the row.
inline void spread(AicorePort& port, std::uint32_t to, std::uint32_t numbers, const RowTile& tile) {
  Vector v = row_vector(VectorOp::kBroadcast, DataType::kFp32, to, 0, tile.rows, tile.columns);
  v.b = numbers;
  v.to_pitch = tile.pitch * size_of(DataType::kFp32);
  port.issue(v);
}

// The unit converts fp32 to int8 by way of int32 and fp16. In place as far as there.
inline void narrow(const Flat& all, std::uint32_t x) {
  all.cast(x, DataType::kInt32, x, DataType::kFp32);
  all.cast(x, DataType::kFp16, x, DataType::kInt32);
}
inline void to_int8(const Flat& all, std::uint32_t to, std::uint32_t narrowed) {
  all.cast(to, DataType::kInt8, narrowed, DataType::kFp16);
}

// Where a tile is quantised: its values, which are overwritten, room for as many numbers, and for
// each row its largest size and its factor. `constant`: kMostInt8 for each row.
struct QuantisedTile {
  std::uint32_t x = 0, y = 0, largest = 0, factors = 0, constant = 0;
};
// To y, ready for to_int8(), by vector instructions alone.
inline void quantise_tile(AicorePort& port, const QuantisedTile& at, const RowTile& tile) {
  const Flat all(port, tile.count()), numbers(port, tile.rows);
  all.issue(VectorOp::kAbs, at.y, at.x);
  largest_sizes(port, at.largest, at.y, tile);
  numbers.issue(VectorOp::kDiv, at.factors, at.constant, at.largest);
  spread(port, at.y, at.factors, tile);
  all.issue(VectorOp::kMul, at.y, at.x, at.y);
  narrow(all, at.y);
}

// Scales that the scalar unit makes, one row after the other, and MTE3 stores together.
class ScaleColumn {
 public:
  ScaleColumn(AicorePort& port, std::uint32_t at) : port_(port), at_(at) { free().set(); }
  ~ScaleColumn() { free().wait(); }
  ScaleColumn(const ScaleColumn&) = delete;
  ScaleColumn& operator=(const ScaleColumn&) = delete;

  void begin() const { free().wait(); }
  // Keeps the scale of a row whose largest size is this; returns by what its elements are
  // multiplied.
  float keep(std::uint32_t row, float largest) const {
    const float scale = largest / kMostInt8;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof bits);
    port_.store_ub(at_ + row * size_of(DataType::kFp32), bits);
    return kMostInt8 / largest;
  }
  void store(std::uint64_t to, std::uint64_t first, std::uint32_t rows) const {
    const Flag<Pipe::kScalar, Pipe::kMte3> kept(port_, 0);
    kept.set();
    kept.wait();
    store_numbers(port_, to, first, at_, rows);
    free().set();
  }

 private:
  Flag<Pipe::kMte3, Pipe::kScalar> free() const { return {port_, 0}; }
  AicorePort& port_;
  const std::uint32_t at_;
};

}  // namespace npu::kernels::vector
