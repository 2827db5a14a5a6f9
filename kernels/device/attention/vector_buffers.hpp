// SPDX-License-Identifier: Apache-2.0
// Parts of UB of a vector core: numbers, one fp32 for each of its rows; which keys a tile's first
// query would see to see those that each of its queries sees; and one space for tiles of scores and
// of outputs, of which one is worked on at a time. The same for host and core.
#pragma once

#include <algorithm>

#include "kernels/device/attention/ring.hpp"

namespace npu::kernels::attention {

class VectorBuffers {
 public:
  static constexpr std::uint32_t kNumbers = 9;
  static constexpr std::uint32_t kMaskRows = 16;

  VectorBuffers(const Work& w, std::uint64_t ub, bool coupled)
      : most_rows_(aicore::round_up(coupled ? w.rows : first_half(w.rows), kGrain)),
        score_row_(aicore::row_bytes(w.chunk, score_type(false))),
        weight_row_(in_place() ? 0 : aicore::row_bytes(w.chunk, kTypeA)),
        mask_row_(kCausal ? aicore::round_up(w.chunk / 8 + 1, aicore::kLocalAlignment) : 0),
        index_row_(kCausal ? aicore::row_bytes(w.chunk, DataType::kFp32) : 0),
        output_row_(aicore::row_bytes(w.head, DataType::kFp32)),
        result_row_(kTypeC == DataType::kFp32 ? 0 : aicore::row_bytes(w.head, kTypeC)) {
    const std::uint64_t fixed = space();
    const std::uint64_t left = ub < fixed ? 0 : ub - fixed;
    rows_ = fitting(left, score_row_ + weight_row_);
    output_rows_ = fitting(left, 2 * output_row_ + result_row_);
  }

  // Of a tile; 0: not one fits.
  std::uint32_t rows() const { return rows_; }
  std::uint32_t output_rows() const { return output_rows_; }
  std::uint32_t score_row() const { return score_row_; }
  std::uint32_t weight_row() const { return in_place() ? score_row_ : weight_row_; }
  std::uint32_t mask_row() const { return mask_row_; }
  std::uint32_t index_row() const { return index_row_; }
  std::uint32_t output_row() const { return output_row_; }

  std::uint32_t number(unsigned i) const { return i * most_rows_ * 4; }
  std::uint32_t mask() const { return number(kNumbers); }
  std::uint32_t index() const { return mask() + kMaskRows * mask_row_; }  // key - row, in fp32
  std::uint32_t scores() const { return space(); }
  std::uint32_t weights() const { return in_place() ? scores() : scores() + rows_ * score_row_; }
  std::uint32_t products() const { return space(); }
  std::uint32_t output() const { return products() + output_rows_ * output_row_; }
  std::uint32_t result() const {
    return kTypeC == DataType::kFp32 ? products() : output() + output_rows_ * output_row_;
  }

  static constexpr bool in_place() { return score_type(false) == kTypeA; }

 private:
  static constexpr std::uint32_t kGrain = 8;  // rows whose numbers begin at 32 B
  std::uint32_t space() const { return index() + kMaskRows * index_row_; }
  std::uint32_t fitting(std::uint64_t bytes, std::uint32_t row) const {
    const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / row, most_rows_));
    return rows < kGrain ? rows : rows / kGrain * kGrain;
  }

  std::uint32_t most_rows_;
  std::uint32_t score_row_, weight_row_, mask_row_, index_row_, output_row_, result_row_;
  std::uint32_t rows_ = 0, output_rows_ = 0;
};

}  // namespace npu::kernels::attention
