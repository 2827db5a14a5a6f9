// SPDX-License-Identifier: Apache-2.0
// Parts of UB for the vector cores' parts of an attention: numbers are one fp32 for each row of a
// tile, a set for what is loaded, computed and stored in turn.
#pragma once

#include "kernels/device/attention/work.hpp"
#include "kernels/device/common/stages.hpp"

namespace npu::kernels::attention {

// Scores of a chunk, in place, and their weights; of a causal attention also which keys a tile's
// first query would see to see those that each of its queries sees, and a mask.
class WeightBuffers {
 public:
  static constexpr std::uint32_t kNumbers = 6;
  static constexpr std::uint32_t kMostRows = 512;

  WeightBuffers(std::uint64_t ub, std::uint32_t keys)
      : score_row_(aicore::row_bytes(keys, DataType::kFp32)),
        weight_row_(aicore::row_bytes(keys, kTypeA)),
        mask_row_(kCausal ? aicore::round_up(keys / 8 + 1, aicore::kLocalAlignment) : 0),
        index_row_(kCausal ? score_row_ : 0) {
    constexpr std::uint32_t kOfNumbers = kSets * kNumbers;
    const std::uint64_t fixed = kOfNumbers * aicore::kLocalAlignment;
    const std::uint64_t row =
        kSets * (score_row_ + weight_row_) + mask_row_ + index_row_ + kOfNumbers * 4;
    const std::uint64_t rows = ub < fixed ? 0 : (ub - fixed) / row;
    rows_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, kMostRows));
  }

  // That fit; 0: not one.
  std::uint32_t rows() const { return rows_; }
  std::uint32_t mask_row() const { return mask_row_; }
  std::uint32_t scores(unsigned set) const { return set * rows_ * score_row_; }
  std::uint32_t weights(unsigned set) const { return scores(kSets) + set * rows_ * weight_row_; }
  std::uint32_t mask() const { return weights(kSets); }
  std::uint32_t index() const { return mask() + rows_ * mask_row_; }  // key - row, in fp32
  std::uint32_t number(unsigned i, unsigned set) const {
    const std::uint32_t bytes = aicore::round_up(rows_ * 4, aicore::kLocalAlignment);
    return index() + rows_ * index_row_ + (kSets * i + set) * bytes;
  }

 private:
  std::uint32_t score_row_, weight_row_, mask_row_, index_row_;
  std::uint32_t rows_ = 0;
};

// The output so far, what is added to it, their sum and what is stored.
class OutputBuffers {
 public:
  static constexpr std::uint32_t kParts = 3 * kSets + 2;
  static constexpr std::uint32_t kGrain = 8 * aicore::kLocalAlignment;
  // Bytes of a part, of which the longest row, of fp32, has to fit into one half.
  static constexpr std::uint32_t space_in(std::uint64_t ub) {
    return static_cast<std::uint32_t>(ub / kParts / kGrain * kGrain);
  }

  explicit OutputBuffers(std::uint64_t ub) : space_(space_in(ub)) {}

  // Rows of so many fp32 that fit into a part.
  std::uint32_t rows(std::uint32_t columns) const {
    return space_ / aicore::row_bytes(columns, DataType::kFp32);
  }
  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t second_in(unsigned i) const { return (kSets + i) * space_; }
  std::uint32_t out(unsigned i) const { return (2 * kSets + i) * space_; }
  std::uint32_t work() const { return 3 * kSets * space_; }
  std::uint32_t number(unsigned i, unsigned set) const {
    return (3 * kSets + 1) * space_ + (kSets * i + set) * (space_ / 8);
  }

 private:
  std::uint32_t space_;
};

}  // namespace npu::kernels::attention
