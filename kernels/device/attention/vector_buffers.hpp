// SPDX-License-Identifier: Apache-2.0
// Parts of UB of a vector core that is handed scores through memory: two places in turn for what
// MTE2 brings, scores or outputs, and one for what MTE3 takes. The same for host and core.
#pragma once

#include <algorithm>

#include "kernels/device/attention/ring.hpp"
#include "kernels/device/attention/row_space.hpp"

namespace npu::kernels::attention {

class VectorBuffers {
 public:
  VectorBuffers(const Work& w, std::uint64_t ub, bool coupled)
      : space_(coupled ? w.rows : first_half(w.rows, false), w.chunk, score_type(false)),
        score_row_(aicore::row_bytes(w.chunk, score_type(false))),
        weight_row_(aicore::row_bytes(w.chunk, kTypeA)),
        output_row_(aicore::row_bytes(w.head, DataType::kFp32)) {
    // operators.md B3: as the public kernel. Halves of rows take half a tile more.
    constexpr std::uint64_t kTile = 32U << 10U, kAligned = aicore::kLocalAlignment;
    const std::uint64_t fixed = space_.end();
    const std::uint64_t left = ub < fixed ? 0 : ub - fixed;
    const std::uint64_t tile = std::min(kTile, left * 2 / 7 / kAligned * kAligned);
    rows_ = fitting(tile, score_row_);
    output_rows_ = fitting(tile, output_row_);
    tile_ = static_cast<std::uint32_t>(tile);
    space_.folded = result() + tile_;
    space_.folded_row = aicore::row_bytes(aicore::divide_up(w.chunk, 2U), score_type(false));
  }

  const RowSpace& space() const { return space_; }
  // Of a tile; 0: not one fits.
  std::uint32_t rows() const { return rows_; }
  std::uint32_t output_rows() const { return output_rows_; }
  std::uint32_t score_row() const { return score_row_; }
  std::uint32_t weight_row() const { return weight_row_; }
  std::uint32_t output_row() const { return output_row_; }

  // Of a tile of scores, of products, or of the output so far.
  std::uint32_t place(unsigned i) const { return space_.end() + i * tile_; }
  // Of its weights, or of what becomes of the output.
  std::uint32_t result() const { return place(2); }

 private:
  std::uint32_t fitting(std::uint64_t bytes, std::uint32_t row) const {
    const auto rows =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / row, space_.most_rows));
    return rows < RowSpace::kGrain ? rows : rows / RowSpace::kGrain * RowSpace::kGrain;
  }

  RowSpace space_;
  std::uint32_t score_row_, weight_row_, output_row_;
  std::uint32_t rows_ = 0, output_rows_ = 0, tile_ = 0;
};

}  // namespace npu::kernels::attention
