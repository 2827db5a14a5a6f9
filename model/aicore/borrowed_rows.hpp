// SPDX-License-Identifier: Apache-2.0
// Rows that a copy brought to L1 side by side and whose bytes have not been moved: mostly a product
// reads them next, once, and does so from the memory they were to be copied from.
#pragma once

#include "model/aicore/deferred_loads.hpp"

namespace npu::model {

struct BorrowedRows {
  DeferredLoads::Range l1;  // where they belong
  Bytes row_bytes;
  std::uint32_t rows;
  Bytes pitch;  // where they lie
  const std::byte* from;

  // What was lent.
  Bytes extent() const { return (rows - 1U) * pitch + row_bytes; }
  // Whether each row of a matrix in L1 is a part of one of them.
  bool hold(const platform::LoadL0& load) const {
    if (!l1.covers(DeferredLoads::source(load))) return false;
    const Bytes column = (load.from - l1.begin) % row_bytes;
    return (load.from_pitch == row_bytes || load.rows == 1) &&
           column + load.columns * bytes_of(load.type) <= row_bytes;
  }
  // Such a matrix.
  const unsigned char* at(const platform::LoadL0& load) const {
    const Bytes offset = load.from - l1.begin;
    const auto* const begin = reinterpret_cast<const unsigned char*>(from);
    return begin + offset / row_bytes * pitch + offset % row_bytes;
  }
};

}  // namespace npu::model
