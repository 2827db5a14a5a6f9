// SPDX-License-Identifier: Apache-2.0
// Parts of UB of a vector core that is handed scores through memory: one space for tiles of scores
// and of outputs, of which one is worked on at a time. The same for host and core.
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
        weight_row_(in_place() ? 0 : aicore::row_bytes(w.chunk, kTypeA)),
        output_row_(aicore::row_bytes(w.head, DataType::kFp32)),
        result_row_(kTypeC == DataType::kFp32 ? 0 : aicore::row_bytes(w.head, kTypeC)) {
    space_.folded_row = aicore::row_bytes(aicore::divide_up(w.chunk, 2U), score_type(false));
    const std::uint64_t fixed = space_.end();
    const std::uint64_t left = ub < fixed ? 0 : ub - fixed;
    rows_ = fitting(left, score_row_ + space_.folded_row + weight_row_);
    output_rows_ = fitting(left, 2 * output_row_ + result_row_);
    space_.folded = scores() + rows_ * (score_row_ + weight_row_);
  }

  const RowSpace& space() const { return space_; }
  // Of a tile; 0: not one fits.
  std::uint32_t rows() const { return rows_; }
  std::uint32_t output_rows() const { return output_rows_; }
  std::uint32_t score_row() const { return score_row_; }
  std::uint32_t weight_row() const { return in_place() ? score_row_ : weight_row_; }
  std::uint32_t output_row() const { return output_row_; }

  std::uint32_t scores() const { return space_.end(); }
  std::uint32_t weights() const { return in_place() ? scores() : scores() + rows_ * score_row_; }
  std::uint32_t products() const { return space_.end(); }
  std::uint32_t output() const { return products() + output_rows_ * output_row_; }
  std::uint32_t result() const {
    return kTypeC == DataType::kFp32 ? products() : output() + output_rows_ * output_row_;
  }

  static constexpr bool in_place() { return score_type(false) == kTypeA; }

 private:
  std::uint32_t fitting(std::uint64_t bytes, std::uint32_t row) const {
    const auto rows =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / row, space_.most_rows));
    return rows < RowSpace::kGrain ? rows : rows / RowSpace::kGrain * RowSpace::kGrain;
  }

  RowSpace space_;
  std::uint32_t score_row_, weight_row_, output_row_, result_row_;
  std::uint32_t rows_ = 0, output_rows_ = 0;
};

}  // namespace npu::kernels::attention
