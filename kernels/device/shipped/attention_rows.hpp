// SPDX-License-Identifier: Apache-2.0
// What the vector kernels share: the kernel itself, a block's part of the rows, and pieces of UB.
#pragma once

#include "kernels/device/shipped/attention.hpp"
#include "npu/aicore/rows.hpp"

namespace npu::kernels::attention {

using aicore::AicorePort;
using aicore::Flag;
using aicore::kLongestRow;
using aicore::UbParts;
using platform::DataType;
using platform::LocalBuffer;
using platform::Pipe;
using platform::Vector;
using platform::VectorOp;

// Vector, MTE2 and MTE3 take turns on one set of buffers.
struct Turns {
  Flag<Pipe::kMte3, Pipe::kMte2> free;
  Flag<Pipe::kMte2, Pipe::kVector> loaded;
  Flag<Pipe::kVector, Pipe::kMte3> computed;
  explicit Turns(AicorePort& port) : free(port, 0), loaded(port, 0), computed(port, 0) {}
};

inline void copy_in(AicorePort& port, std::uint32_t to, std::uint64_t from, std::uint32_t rows,
                    std::uint32_t row_bytes, std::uint32_t to_pitch) {
  platform::CopyIn copy;
  copy.to = {LocalBuffer::kUb, to};
  copy.from = from;
  copy.rows = rows;
  copy.row_bytes = row_bytes;
  copy.from_pitch = row_bytes;
  copy.to_pitch = to_pitch;
  port.issue(copy);
}

inline void copy_out(AicorePort& port, std::uint64_t to, std::uint32_t from, std::uint32_t rows,
                     std::uint32_t row_bytes, std::uint32_t from_pitch) {
  platform::CopyOut copy;
  copy.to = to;
  copy.from = {LocalBuffer::kUb, from};
  copy.rows = rows;
  copy.row_bytes = row_bytes;
  copy.to_pitch = row_bytes;
  copy.from_pitch = from_pitch;
  port.issue(copy);
}

// A kernel that works on rows: `Rows` is made of the port and the task's `Work`, says how many rows
// it takes at a time, and runs on so many.
template <class Rows, class Work>
int run_rows(AicorePort& port) {
  const auto work = Work::from(aicore::Arguments(port, Work::kWords));
  if (!work.valid()) return aicore::kBadArguments;
  {
    Rows rows(port, work);
    const std::uint32_t piece = rows.piece();
    if (piece == 0) return kTooLarge;
    aicore::for_rows(port.call(), work.rows, piece,
                     [&](std::uint32_t first, std::uint32_t count) { rows.run(first, count); });
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace npu::kernels::attention
