// SPDX-License-Identifier: Apache-2.0
// Tiles through UB with two sets of buffers in turn: MTE2 loads the next tile while the vector unit
// computes and MTE3 stores the one before.
#pragma once

#include "npu/aicore/rows.hpp"

namespace npu::kernels {

using aicore::AicorePort;
using aicore::Flag;
using platform::LocalBuffer;
using platform::Pipe;
using platform::Vector;
using platform::VectorOp;

inline constexpr unsigned kSets = 2;  // of buffers

// Inputs and results separately. For each tile: begin_load, loads, loaded, computing, ... and for
// each result: begin_result, computing, computed, stores, stored.
class Stages {
 public:
  explicit Stages(AicorePort& port) : port_(port) {
    for (unsigned i = 0; i < kSets; ++i) {
      inputs_free(i).set();
      result_free(i).set();
    }
  }
  ~Stages() {
    for (unsigned i = 0; i < kSets; ++i) {
      inputs_free(i).wait();
      result_free(i).wait();
    }
  }
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  // The set to load to.
  unsigned begin_load() {
    const unsigned i = loads_++ % kSets;
    inputs_free(i).wait();
    return i;
  }
  void loaded(unsigned i) const {
    full(i).set();
    full(i).wait();
  }
  // The vector unit is done with the inputs.
  void consumed(unsigned i) const { inputs_free(i).set(); }
  unsigned begin_result() {
    const unsigned i = results_++ % kSets;
    result_free(i).wait();
    return i;
  }
  void computed(unsigned i) const {
    result_full(i).set();
    result_full(i).wait();
  }
  void stored(unsigned i) const { result_free(i).set(); }

 private:
  Flag<Pipe::kVector, Pipe::kMte2> inputs_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte2, Pipe::kVector> full(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kMte3, Pipe::kVector> result_free(unsigned i) const { return {port_, i}; }
  Flag<Pipe::kVector, Pipe::kMte3> result_full(unsigned i) const { return {port_, i}; }

  AicorePort& port_;
  unsigned loads_ = 0, results_ = 0;
};

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
                      const AreaTile& tile, platform::DataType type) {
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
                       std::uint32_t from, platform::DataType type) {
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
inline void convert_rows(AicorePort& port, std::uint32_t to, platform::DataType to_type,
                         std::uint32_t from, platform::DataType type, std::uint32_t rows,
                         std::uint32_t columns) {
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
inline Vector row_vector(VectorOp op, platform::DataType type, std::uint32_t to, std::uint32_t a,
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

}  // namespace npu::kernels
