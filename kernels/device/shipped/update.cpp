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
  UpdateRows(AicorePort& port, const Update& work) : port_(port), work_(work), turns_(port) {
    pitch_ = aicore::row_bytes(work.head, DataType::kFp32);
    turns_.free.set();
  }
  ~UpdateRows() { turns_.free.wait(); }
  UpdateRows(const UpdateRows&) = delete;
  UpdateRows& operator=(const UpdateRows&) = delete;

  // Rows at a time; 0: not one fits.
  std::uint32_t piece() const {
    if (work_.head > kLongestRow) return 0;
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb));
    if (ub < kPerRow * aicore::kLocalAlignment) return 0;
    return (ub - kPerRow * aicore::kLocalAlignment) / (2 * pitch_ + kPerRow * kFloat);
  }

  void run(std::uint32_t first, std::uint32_t rows) {
    place(rows);
    const std::uint64_t at = std::uint64_t{first} * work_.head * kFloat;
    turns_.free.wait();
    // The first block's values and statistics are the output so far.
    load(work_.first ? output_ : values_, work_.values + at);
    load_statistics(work_.first ? total_max_ : block_max_, work_.first ? total_sum_ : block_sum_,
                    work_.statistics, first);
    if (!work_.first) {
      load(output_, work_.output + at);
      load_statistics(total_max_, total_sum_, work_.total, first);
    }
    turns_.loaded.set();
    turns_.loaded.wait();
    if (!work_.first) merge();
    if (work_.last) row_op(VectorOp::kBroadcastDiv, output_, total_sum_);
    turns_.computed.set();
    turns_.computed.wait();
    copy_out(port_, work_.output + at, output_, rows_, work_.head * kFloat, pitch_);
    const std::uint64_t column = std::uint64_t{first} * kFloat;
    copy_out(port_, work_.total + column, total_max_, 1, rows_ * kFloat, 0);
    copy_out(port_, work_.total + std::uint64_t{work_.rows} * kFloat + column, total_sum_, 1,
             rows_ * kFloat, 0);
    turns_.free.set();
  }

 private:
  void place(std::uint32_t rows) {
    UbParts ub;
    rows_ = rows;
    output_ = ub.take(rows * pitch_);
    values_ = ub.take(rows * pitch_);
    for (auto* part : {&total_max_, &total_sum_, &block_max_, &block_sum_, &larger_}) {
      *part = ub.take(rows * kFloat);
    }
  }
  void load(std::uint32_t to, std::uint64_t from) {
    copy_in(port_, to, from, rows_, work_.head * kFloat, pitch_);
  }
  void load_statistics(std::uint32_t maxima, std::uint32_t sums, std::uint64_t from,
                       std::uint32_t first) {
    const std::uint64_t column = from + std::uint64_t{first} * kFloat;
    copy_in(port_, maxima, column, 1, rows_ * kFloat, 0);
    copy_in(port_, sums, column + std::uint64_t{work_.rows} * kFloat, 1, rows_ * kFloat, 0);
  }

  // to = a op b, of one number per row.
  void number_op(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b) {
    Vector v;
    v.op = op;
    v.to = to;
    v.a = a;
    v.b = b;
    v.count = rows_;
    port_.issue(v);
  }
  // Every row of `tile` op the number of that row.
  void row_op(VectorOp op, std::uint32_t tile, std::uint32_t numbers) {
    Vector v;
    v.op = op;
    v.to = v.a = tile;
    v.b = numbers;
    v.count = work_.head;
    v.rows = rows_;
    v.to_pitch = v.a_pitch = pitch_;
    port_.issue(v);
  }
  void merge() {
    number_op(VectorOp::kMax, larger_, total_max_, block_max_);
    for (const std::uint32_t factor : {total_max_, block_max_}) {
      number_op(VectorOp::kSub, factor, factor, larger_);
      number_op(VectorOp::kExp, factor, factor, 0);
    }
    number_op(VectorOp::kMul, total_sum_, total_sum_, total_max_);
    number_op(VectorOp::kMul, block_sum_, block_sum_, block_max_);
    number_op(VectorOp::kAdd, total_sum_, total_sum_, block_sum_);
    row_op(VectorOp::kBroadcastMul, output_, total_max_);
    row_op(VectorOp::kBroadcastMul, values_, block_max_);
    Vector v;
    v.op = VectorOp::kAdd;
    v.to = v.a = output_;
    v.b = values_;
    v.count = work_.head;
    v.rows = rows_;
    v.to_pitch = v.a_pitch = v.b_pitch = pitch_;
    port_.issue(v);
    number_op(VectorOp::kCopy, total_max_, larger_, 0);
  }

  AicorePort& port_;
  const Update work_;
  Turns turns_;
  std::uint32_t pitch_ = 0;  // bytes from row to row in UB
  std::uint32_t rows_ = 0;   // of the present piece, and where its parts are
  std::uint32_t output_ = 0, values_ = 0, total_max_ = 0, total_sum_ = 0;
  std::uint32_t block_max_ = 0, block_sum_ = 0, larger_ = 0;
};

}  // namespace
}  // namespace npu::kernels::attention

NPU_KERNEL((npu::kernels::attention::run_rows<npu::kernels::attention::UpdateRows,
                                              npu::kernels::attention::Update>),
           npu::kernels::attention::Update::kWords)
