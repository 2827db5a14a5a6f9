// SPDX-License-Identifier: Apache-2.0
// Parts of UB that a vector core's rows need beside scores and outputs: numbers, one fp32 for each
// row; which keys a tile's first query would see to see those that each of its queries sees; and a
// place where halves of rows are brought together.
#pragma once

#include "kernels/device/attention/work.hpp"

namespace npu::kernels::attention {

struct RowSpace {
  static constexpr std::uint32_t kNumbers = 9;
  static constexpr std::uint32_t kMaskRows = 16;
  static constexpr std::uint32_t kGrain = 8;  // rows whose numbers begin at 32 B

  // From the start of UB, for scores of `scores`.
  RowSpace(std::uint32_t rows, std::uint32_t chunk, DataType scores)
      : type(scores),
        most_rows(aicore::round_up(rows, kGrain)),
        mask_row(kCausal ? aicore::round_up(chunk / 8 + 1, aicore::kLocalAlignment) : 0),
        index_row(kCausal ? aicore::row_bytes(chunk, scores) : 0) {
#if NPU_JIT_MASK
    added_row = aicore::row_bytes(chunk, DataType::kFp32);
#endif
  }

  std::uint32_t number(unsigned i) const {
    return i * most_rows * 4;
  }
  std::uint32_t mask() const {
    return number(kNumbers);
  }
  std::uint32_t index() const {
    return mask() + kMaskRows * mask_row;
  }  // key - row
#if NPU_JIT_MASK
  // A number for each key: as it is loaded, and in the type of the scores.
  std::uint32_t loaded() const {
    return index() + kMaskRows * index_row;
  }
  std::uint32_t added() const {
    return loaded() + (type == kTypeA ? 0 : added_row);
  }
  std::uint32_t end() const {
    return added() + added_row;
  }

  std::uint32_t added_row = 0;
#else
  std::uint32_t end() const {
    return index() + kMaskRows * index_row;
  }
#endif

  DataType type;
  std::uint32_t most_rows, mask_row, index_row;
  std::uint32_t folded = 0, folded_row = 0;  // where halves are brought together
};

// Rows of a task that a vector core has: 1 and 2 of a cluster's two, 0: the only core.
struct CoreRows {
  CoreRows(std::uint32_t all, unsigned role, bool local) {
    const std::uint32_t half = first_half(all, local);
    first = role == 2 ? half : 0;
    count = role == 0 ? all : role == 1 ? half : all - half;
  }
  std::uint32_t first = 0, count = 0;
};

}  // namespace npu::kernels::attention
