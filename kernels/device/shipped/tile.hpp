// SPDX-License-Identifier: Apache-2.0
// Copies and multiplication of one tile: what each pipe is given.
#pragma once

#include "npu/aicore/kernel.hpp"

namespace npu::kernels::gemm {

using aicore::AicorePort;
using platform::DataType;
using platform::Local;
using platform::LocalBuffer;

// A matrix, or a part of one, in global memory.
struct GlobalTile {
  std::uint64_t address = 0;
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t pitch = 0;  // bytes
};

inline void copy_to_l1(AicorePort& port, std::uint32_t to, const GlobalTile& from, DataType type) {
  platform::CopyIn copy;
  copy.to = {LocalBuffer::kL1, to};
  copy.from = from.address;
  copy.rows = from.rows;
  copy.row_bytes = from.columns * static_cast<std::uint32_t>(platform::bytes_of(type));
  copy.from_pitch = from.pitch;
  copy.to_pitch = aicore::row_bytes(from.columns, type);
  port.issue(copy);
}

// rows x columns of a matrix in L1 that begins at `from`.
inline void copy_to_l0(AicorePort& port, Local to, std::uint32_t from, std::uint32_t pitch,
                       std::uint32_t rows, std::uint32_t columns, DataType type) {
  platform::LoadL0 load;
  load.to = to;
  load.from = from;
  load.rows = rows;
  load.columns = columns;
  load.from_pitch = pitch;
  load.type = type;
  port.issue(load);
}

inline void copy_to_global(AicorePort& port, const GlobalTile& to, std::uint32_t from,
                           DataType type, DataType to_type) {
  platform::Fixpipe store;
  store.to = to.address;
  store.from = from;
  store.m = to.rows;
  store.n = to.columns;
  store.to_pitch = to.pitch;
  store.type = type;
  store.to_type = to_type;
  port.issue(store);
}

}  // namespace npu::kernels::gemm
