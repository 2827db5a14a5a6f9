// SPDX-License-Identifier: Apache-2.0
// A tile that is the sum of rows, each times a number, and of a row beside them, made in fp32.
#pragma once

#include "kernels/device/vector/row_tile.hpp"

namespace npu::kernels::vector {

class WeightedSum {
 public:
  struct Tensors {
    GlobalRows rows, addend, to;  // addend.address 0: none
    DataType type, to_type;       // of rows; of addend and result
  };
  // Bytes of UB of an element: two sets of inputs, a term, the sum, the result.
  static constexpr std::uint32_t bytes_of_element(DataType type, DataType to_type) {
    return kSets * std::max(size_of(type), size_of(to_type)) + 2 * size_of(DataType::kFp32) +
           size_of(to_type);
  }

  // `wide`: elements of the widest tile.
  WeightedSum(AicorePort& port, const Tensors& tensors, std::uint32_t wide)
      : port_(port), tensors_(tensors), stages_(port) {
    aicore::UbParts ub;
    const std::uint32_t widest = std::max(size_of(tensors.type), size_of(tensors.to_type));
    for (auto& in : in_) in = ub.take(wide * widest);
    for (auto* at : {&term_, &sum_}) *at = ub.take(wide * size_of(DataType::kFp32));
    out_ = ub.take(wide * size_of(tensors.to_type));
  }

  // For each tile, of one row of the result: begin, add ..., end.
  void begin(const AreaTile& tile) {
    if (tensors_.addend.address == 0) {
      return element_op(port_, VectorOp::kDuplicate, sum_, sum_, {0, 0, 1, tile.columns});
    }
    const std::uint32_t x = load(tensors_.addend, tile, tensors_.to_type);
    element_op(port_, VectorOp::kCopy, sum_, x, {0, 0, 1, tile.columns});
    if (x != term_) stages_.consumed(set_);
  }
  void add(const AreaTile& tile, std::uint64_t row, float weight) {
    const std::uint32_t x = load(tensors_.rows, {row, tile.column, 1, tile.columns}, tensors_.type);
    Vector v = row_vector(VectorOp::kAxpy, DataType::kFp32, sum_, x, 1, tile.columns);
    v.scalar = weight;
    v.b = sum_;
    port_.issue(v);
    if (x != term_) stages_.consumed(set_);
  }
  void end(const AreaTile& tile) {
    const unsigned set = stages_.begin_result();
    convert_rows(port_, out_, tensors_.to_type, sum_, DataType::kFp32, 1, tile.columns);
    stages_.computed(set);
    store_rows(port_, tensors_.to, tile, out_, tensors_.to_type);
    stages_.stored(set);
  }

 private:
  // Where it lies in fp32: in place, and the set is still used, or as a term.
  std::uint32_t load(const GlobalRows& from, const AreaTile& tile, DataType type) {
    set_ = stages_.begin_load();
    load_rows(port_, in_[set_], from, tile, type);
    stages_.loaded(set_);
    if (type == DataType::kFp32) return in_[set_];
    convert_rows(port_, term_, DataType::kFp32, in_[set_], type, 1, tile.columns);
    stages_.consumed(set_);
    return term_;
  }

  AicorePort& port_;
  const Tensors tensors_;
  StagesOf<kSets, 1> stages_;
  unsigned set_ = 0;
  std::uint32_t in_[kSets] = {}, term_ = 0, sum_ = 0, out_ = 0;
};

// Columns of a tile, so that few rows are cut for all cores, and a tile fits.
constexpr std::uint32_t columns_of_sums(std::uint64_t ub, std::uint32_t bytes_of_element,
                                        std::uint32_t cores, std::uint32_t rows,
                                        std::uint32_t columns) {
  constexpr std::uint64_t kLeast = 512, kUnit = 64, kKept = 1024;
  const std::uint64_t most = (ub - kKept) / bytes_of_element / kUnit * kUnit;
  const std::uint64_t parts = aicore::divide_up(cores, rows);
  const std::uint64_t part =
      aicore::round_up(aicore::divide_up<std::uint64_t>(columns, parts), kUnit);
  return static_cast<std::uint32_t>(std::min(most, std::max(part, kLeast)));
}

}  // namespace npu::kernels::vector
