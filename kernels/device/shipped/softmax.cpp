// SPDX-License-Identifier: Apache-2.0
// Softmax of one block of keys without the division: weights relative to the block's own maxima,
// which are kept with the sums for the update.
#include "kernels/device/shipped/attention_rows.hpp"

namespace npu::kernels::attention {
namespace {

constexpr std::uint32_t kFloat = 4;  // bytes

class SoftmaxRows {
 public:
  SoftmaxRows(AicorePort& port, const Softmax& work) : port_(port), work_(work), turns_(port) {
    score_pitch_ = aicore::row_bytes(work.count, DataType::kFp32);
    weight_pitch_ = aicore::row_bytes(work.count, work.type);
    turns_.free.set();
  }
  ~SoftmaxRows() { turns_.free.wait(); }
  SoftmaxRows(const SoftmaxRows&) = delete;
  SoftmaxRows& operator=(const SoftmaxRows&) = delete;

  // Rows at a time; 0: not one fits.
  std::uint32_t piece() const {
    if (work_.count > kLongestRow) return 0;
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    const std::uint32_t borders = 2 * aicore::kLocalAlignment;
    if (ub < borders) return 0;
    return (ub - borders) / (score_pitch_ + weight_pitch_ + 2 * kFloat);
  }

  void run(std::uint32_t first, std::uint32_t rows) {
    UbParts ub;
    const std::uint32_t scores = ub.take(rows * score_pitch_);
    const std::uint32_t weights = ub.take(rows * weight_pitch_);
    const std::uint32_t maxima = ub.take(rows * kFloat);
    const std::uint32_t sums = ub.take(rows * kFloat);
    const std::uint64_t at = std::uint64_t{first} * work_.count;
    turns_.free.wait();
    copy_in(port_, scores, work_.scores + at * kFloat, rows, work_.count * kFloat, score_pitch_);
    turns_.loaded.set();
    turns_.loaded.wait();
    compute(scores, weights, maxima, sums, rows);
    turns_.computed.set();
    turns_.computed.wait();
    const auto element = static_cast<std::uint32_t>(platform::bytes_of(work_.type));
    copy_out(port_, work_.weights + at * element, weights, rows, work_.count * element,
             weight_pitch_);
    const std::uint64_t column = std::uint64_t{first} * kFloat;
    copy_out(port_, work_.statistics + column, maxima, 1, rows * kFloat, 0);
    copy_out(port_, work_.statistics + std::uint64_t{work_.rows} * kFloat + column, sums, 1,
             rows * kFloat, 0);
    turns_.free.set();
  }

 private:
  void compute(std::uint32_t scores, std::uint32_t weights, std::uint32_t maxima,
               std::uint32_t sums, std::uint32_t rows) {
    Vector v;
    v.count = work_.count;
    v.rows = rows;
    v.to = v.a = scores;
    v.to_pitch = v.a_pitch = score_pitch_;
    v.op = VectorOp::kMuls;
    v.scalar = work_.scale;
    port_.issue(v);
    reduce(VectorOp::kReduceMax, maxima, scores, rows);
    v.op = VectorOp::kBroadcastSub;
    v.b = maxima;
    port_.issue(v);
    v.op = VectorOp::kExp;
    v.b = 0;
    port_.issue(v);
    reduce(VectorOp::kReduceSum, sums, scores, rows);
    v.op = work_.type == DataType::kFp32 ? VectorOp::kCopy : VectorOp::kCast;
    v.to = weights;
    v.to_type = work_.type;
    v.to_pitch = weight_pitch_;
    port_.issue(v);
  }
  void reduce(VectorOp op, std::uint32_t to, std::uint32_t scores, std::uint32_t rows) {
    Vector v;
    v.op = op;
    v.count = work_.count;
    v.rows = rows;
    v.to = to;
    v.a = scores;
    v.a_pitch = score_pitch_;
    port_.issue(v);
  }

  AicorePort& port_;
  const Softmax work_;
  Turns turns_;
  std::uint32_t score_pitch_ = 0, weight_pitch_ = 0;  // bytes from row to row in UB
};

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL((npu::kernels::attention::run_rows<npu::kernels::attention::SoftmaxRows,
                                              npu::kernels::attention::Softmax>),
           npu::kernels::attention::Softmax::kWords)
