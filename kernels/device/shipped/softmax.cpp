// SPDX-License-Identifier: Apache-2.0
// Softmax of one block of keys without the division: weights relative to the block's own maxima,
// which are kept with the sums for the update.
#include "kernels/device/shipped/attention_rows.hpp"

namespace npu::kernels::attention {
namespace {

constexpr std::uint32_t kFloat = 4;  // bytes

class SoftmaxRows {
 public:
  SoftmaxRows(AicorePort& port, const Softmax& work) : port_(port), work_(work), turns_(port) {}

  // Rows at a time; 0: not one fits.
  std::uint32_t piece() const {
    if (work_.count > kLongestRow) return 0;
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    const std::uint32_t borders = 2 * aicore::kLocalAlignment;
    if (ub < borders) return 0;
    return (ub - borders) / (row_bytes(DataType::kFp32) + row_bytes(work_.type) + 2 * kFloat);
  }

  void run(std::uint32_t first, std::uint32_t rows) {
    UbParts ub;
    const std::uint32_t scores = ub.take(rows * row_bytes(DataType::kFp32));
    const std::uint32_t weights = ub.take(rows * row_bytes(work_.type));
    const std::uint32_t maxima = ub.take(rows * kFloat);
    const std::uint32_t sums = ub.take(rows * kFloat);
    const AreaTile tile{first, 0, rows, work_.count};
    turns_.begin();
    load_rows(port_, scores, {work_.scores, work_.count}, tile, DataType::kFp32);
    turns_.loaded();
    element_op(port_, VectorOp::kMuls, scores, scores, tile, work_.scale);
    reduce_rows(port_, VectorOp::kReduceMax, maxima, scores, tile);
    row_op(port_, VectorOp::kBroadcastSub, scores, scores, maxima, tile);
    element_op(port_, VectorOp::kExp, scores, scores, tile);
    reduce_rows(port_, VectorOp::kReduceSum, sums, scores, tile);
    convert_rows(port_, weights, work_.type, scores, DataType::kFp32, rows, work_.count);
    turns_.computed();
    store_rows(port_, {work_.weights, work_.count}, tile, weights, work_.type);
    const Statistics statistics(work_.statistics, work_.rows, tile);
    statistics.store(port_, maxima, sums);
    turns_.stored();
  }

 private:
  std::uint32_t row_bytes(DataType type) const { return aicore::row_bytes(work_.count, type); }

  AicorePort& port_;
  const Softmax work_;
  const Turns turns_;
};

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL((npu::kernels::attention::run_rows<npu::kernels::attention::SoftmaxRows,
                                              npu::kernels::attention::Softmax>),
           npu::kernels::attention::Softmax::kWords)
