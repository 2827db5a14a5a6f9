// SPDX-License-Identifier: Apache-2.0
// Rows of tiles on vector cores: their part of an area, their copies, and the vector instructions
// of rows padded to 32 B in UB.
#pragma once

#include "npu/aicore/rows.hpp"

namespace npu::kernels {

using aicore::AicorePort;
using platform::DataType;
using platform::LocalBuffer;
using platform::Vector;
using platform::VectorOp;

// Rows in global memory.
struct GlobalRows {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // elements
};

// A part of an area of rows.
struct AreaTile {
  std::uint64_t row = 0, column = 0;
  std::uint32_t rows = 0, columns = 0;
};

// The largest tile of `rows` x `columns` in so many bytes, its rows padded to 32 B, `bytes` each
// element.
constexpr AreaTile largest_tile(std::uint64_t rows, std::uint64_t columns, std::uint32_t space,
                                std::uint32_t bytes) {
  AreaTile tile;
  const std::uint32_t most = space / aicore::kLocalAlignment * aicore::kLocalAlignment / bytes;
  tile.columns = static_cast<std::uint32_t>(std::min<std::uint64_t>(columns, most));
  const std::uint32_t pitch = aicore::round_up(tile.columns * bytes, aicore::kLocalAlignment);
  tile.rows =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, std::max(space / pitch, 1U)));
  return tile;
}

// Calls run(tile) for the block's tiles of an area that is not empty: i, i + blocks, ...
template <class Run>
void for_area(const platform::KernelCall& call, std::uint64_t rows, std::uint64_t columns,
              const AreaTile& largest, Run run) {
  const std::uint64_t across = aicore::divide_up<std::uint64_t>(columns, largest.columns);
  const std::uint64_t tiles = across * aicore::divide_up<std::uint64_t>(rows, largest.rows);
  for (std::uint64_t i = call.block; i < tiles; i += call.blocks) {
    AreaTile tile;
    tile.row = i / across * largest.rows;
    tile.column = i % across * largest.columns;
    tile.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(largest.rows, rows - tile.row));
    tile.columns =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(largest.columns, columns - tile.column));
    run(tile);
  }
}

inline void load_rows(AicorePort& port, std::uint32_t to, const GlobalRows& from,
                      const AreaTile& tile, DataType type) {
  const std::uint64_t bytes = platform::bytes_of(type);
  platform::CopyIn copy;
  copy.to = {LocalBuffer::kUb, to};
  copy.from = from.address + (tile.row * from.pitch + tile.column) * bytes;
  copy.rows = tile.rows;
  copy.row_bytes = static_cast<std::uint32_t>(tile.columns * bytes);
  copy.from_pitch = tile.rows == 1 ? 0 : from.pitch * bytes;
  copy.to_pitch = aicore::row_bytes(tile.columns, type);
  port.issue(copy);
}

inline void store_rows(AicorePort& port, const GlobalRows& to, const AreaTile& tile,
                       std::uint32_t from, DataType type) {
  const std::uint64_t bytes = platform::bytes_of(type);
  platform::CopyOut copy;
  copy.to = to.address + (tile.row * to.pitch + tile.column) * bytes;
  copy.from = {LocalBuffer::kUb, from};
  copy.rows = tile.rows;
  copy.row_bytes = static_cast<std::uint32_t>(tile.columns * bytes);
  copy.to_pitch = tile.rows == 1 ? 0 : to.pitch * bytes;
  copy.from_pitch = aicore::row_bytes(tile.columns, type);
  port.issue(copy);
}

// `rows` x `columns` elements of UB in rows padded to 32 B; one to the other, converted.
inline void convert_rows(AicorePort& port, std::uint32_t to, DataType to_type, std::uint32_t from,
                         DataType type, std::uint32_t rows, std::uint32_t columns) {
  Vector v;
  v.op = type == to_type ? VectorOp::kCopy : VectorOp::kCast;
  v.type = type;
  v.to_type = to_type;
  v.to = to;
  v.a = from;
  v.rows = rows;
  v.count = columns;
  v.to_pitch = aicore::row_bytes(columns, to_type);
  v.a_pitch = aicore::row_bytes(columns, type);
  port.issue(v);
}

// to = a op b; rows of one pitch.
inline Vector row_vector(VectorOp op, DataType type, std::uint32_t to, std::uint32_t a,
                         std::uint32_t rows, std::uint32_t columns) {
  Vector v;
  v.op = op;
  v.type = v.to_type = type;
  v.to = to;
  v.a = a;
  v.rows = rows;
  v.count = columns;
  v.to_pitch = v.a_pitch = aicore::row_bytes(columns, type);
  return v;
}

// Each row of `a` times the one row `by`.
inline void multiply_rows(AicorePort& port, std::uint32_t to, std::uint32_t a, std::uint32_t by,
                          std::uint32_t rows, std::uint32_t columns, DataType type) {
  const std::uint32_t pitch = aicore::row_bytes(columns, type);
  for (std::uint32_t row = 0; row < rows; ++row) {
    Vector v = row_vector(VectorOp::kMul, type, to + row * pitch, a + row * pitch, 1, columns);
    v.b = by;
    port.issue(v);
  }
}

// What follows is in fp32.

// Every element of a tile: to = op(a), or a op scalar.
inline void element_op(AicorePort& port, VectorOp op, std::uint32_t to, std::uint32_t a,
                       const AreaTile& tile, float scalar = 0) {
  Vector v = row_vector(op, DataType::kFp32, to, a, tile.rows, tile.columns);
  v.scalar = scalar;
  port.issue(v);
}
// Every element of a tile: to = a op the number of its row (VectorOp::kBroadcast...).
inline void row_op(AicorePort& port, VectorOp op, std::uint32_t to, std::uint32_t a,
                   std::uint32_t numbers, const AreaTile& tile) {
  Vector v = row_vector(op, DataType::kFp32, to, a, tile.rows, tile.columns);
  v.b = numbers;
  port.issue(v);
}
// Every element of a tile: to = a op b.
inline void tile_op(AicorePort& port, VectorOp op, std::uint32_t to, std::uint32_t a,
                    std::uint32_t b, const AreaTile& tile) {
  Vector v = row_vector(op, DataType::kFp32, to, a, tile.rows, tile.columns);
  v.b = b;
  v.b_pitch = v.a_pitch;
  port.issue(v);
}
// A number of each row of a tile (VectorOp::kReduce...).
inline void reduce_rows(AicorePort& port, VectorOp op, std::uint32_t numbers, std::uint32_t from,
                        const AreaTile& tile) {
  Vector v = row_vector(op, DataType::kFp32, numbers, from, tile.rows, tile.columns);
  v.to_pitch = 0;
  port.issue(v);
}
// Numbers of `rows` rows: to = a op b, op(a) or a op scalar.
inline void number_op(AicorePort& port, VectorOp op, std::uint32_t to, std::uint32_t a,
                      std::uint32_t b, std::uint32_t rows, float scalar = 0) {
  Vector v = row_vector(op, DataType::kFp32, to, a, 1, rows);
  v.b = b;
  v.scalar = scalar;
  port.issue(v);
}

}  // namespace npu::kernels
