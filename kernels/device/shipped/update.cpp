// SPDX-License-Identifier: Apache-2.0
// Adds a block of keys to the output so far. Both are relative to maxima of their own; with the
// larger one, M' = max(M, m), a = exp(M - M') and b = exp(m - M'):
//   O' = a O + b V',  L' = a L + b l;  after the last block O' / L'.
#include "kernels/device/shipped/attention_rows.hpp"

namespace npu::kernels::attention {
namespace {

constexpr std::uint32_t kFloat = 4;   // bytes
constexpr std::uint32_t kPerRow = 5;  // numbers of a row beside its elements

class UpdateRows {
 public:
  UpdateRows(AicorePort& port, const Update& work) : port_(port), work_(work), turns_(port) {}

  // Rows at a time; 0: not one fits.
  std::uint32_t piece() const {
    if (work_.head > kLongestRow) return 0;
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    if (ub < kPerRow * aicore::kLocalAlignment) return 0;
    return (ub - kPerRow * aicore::kLocalAlignment) / (2 * row_bytes() + kPerRow * kFloat);
  }

  void run(std::uint32_t first, std::uint32_t rows) {
    UbParts ub;
    output_ = ub.take(rows * row_bytes());
    values_ = ub.take(rows * row_bytes());
    for (auto* part : {&total_max_, &total_sum_, &block_max_, &block_sum_, &larger_}) {
      *part = ub.take(rows * kFloat);
    }
    const AreaTile tile{first, 0, rows, work_.head};
    const GlobalRows output{work_.output, work_.head}, values{work_.values, work_.head};
    const Statistics total(work_.total, work_.rows, tile);
    const Statistics block(work_.statistics, work_.rows, tile);
    turns_.begin();
    // The first block's values and statistics are the output so far.
    load_rows(port_, work_.first ? output_ : values_, values, tile, DataType::kFp32);
    block.load(port_, work_.first ? total_max_ : block_max_, work_.first ? total_sum_ : block_sum_);
    if (!work_.first) {
      load_rows(port_, output_, output, tile, DataType::kFp32);
      total.load(port_, total_max_, total_sum_);
    }
    turns_.loaded();
    if (!work_.first) merge(tile);
    if (work_.last) row_op(port_, VectorOp::kBroadcastDiv, output_, output_, total_sum_, tile);
    turns_.computed();
    store_rows(port_, output, tile, output_, DataType::kFp32);
    total.store(port_, total_max_, total_sum_);
    turns_.stored();
  }

 private:
  std::uint32_t row_bytes() const { return aicore::row_bytes(work_.head, DataType::kFp32); }

  void merge(const AreaTile& tile) {
    const auto of_numbers = [&](VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
      number_op(port_, op, to, a, b, tile.rows);
    };
    of_numbers(VectorOp::kMax, larger_, total_max_, block_max_);
    for (const std::uint32_t factor : {total_max_, block_max_}) {
      of_numbers(VectorOp::kSub, factor, factor, larger_);
      of_numbers(VectorOp::kExp, factor, factor, 0);
    }
    of_numbers(VectorOp::kMul, total_sum_, total_sum_, total_max_);
    of_numbers(VectorOp::kMul, block_sum_, block_sum_, block_max_);
    of_numbers(VectorOp::kAdd, total_sum_, total_sum_, block_sum_);
    row_op(port_, VectorOp::kBroadcastMul, output_, output_, total_max_, tile);
    row_op(port_, VectorOp::kBroadcastMul, values_, values_, block_max_, tile);
    tile_op(port_, VectorOp::kAdd, output_, output_, values_, tile);
    of_numbers(VectorOp::kCopy, total_max_, larger_, 0);
  }

  AicorePort& port_;
  const Update work_;
  const Turns turns_;
  // Where the present rows' parts are.
  std::uint32_t output_ = 0, values_ = 0, total_max_ = 0, total_sum_ = 0;
  std::uint32_t block_max_ = 0, block_sum_ = 0, larger_ = 0;
};

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL((npu::kernels::attention::run_rows<npu::kernels::attention::UpdateRows,
                                              npu::kernels::attention::Update>),
           npu::kernels::attention::Update::kWords)
