// SPDX-License-Identifier: Apache-2.0
// silu(left half) * right half of each row as int8, and a scale for each row: scale = largest size
// / 127, y = value / scale. silu(a) = a / (1 + exp(-a)), computed in fp32.
#include <cmath>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/quantise.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

struct Work {
  std::uint64_t x = 0, y = 0, scales = 0;
  std::uint32_t rows = 0, columns = 0;  // of the result
};

constexpr std::uint32_t kOfFp32 = size_of(DataType::kFp32);
// Bytes of UB for a column: both halves of two rows, three steps in fp32, the result.
constexpr std::uint32_t kColumnBytes = 4 * size_of(kTypeA) + 3 * kOfFp32 + 1;
constexpr std::uint32_t kRest = 16 * aicore::kLocalAlignment;

class Rows {
 public:
  Rows(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    for (unsigned i = 0; i < kSets; ++i) {
      left_[i] = ub.take(work.columns * size_of(kTypeA));
      right_[i] = ub.take(work.columns * size_of(kTypeA));
    }
    for (auto* at : {&a_, &b_, &y_}) *at = ub.take(work.columns * kOfFp32);
    out_ = ub.take(work.columns);
    for (auto* at : {&constant_, &largest_, &factor_, &scale_}) {
      *at = ub.take(aicore::kLocalAlignment);
    }
  }

  void run() {
    const auto& call = port_.call();
    const std::uint64_t first = std::uint64_t{work_.rows} * call.block / call.blocks;
    const std::uint64_t end = std::uint64_t{work_.rows} * (call.block + 1) / call.blocks;
    if (first == end) return;
    vector::Flat(port_, 1).scalar(VectorOp::kDuplicate, constant_, constant_, vector::kMostInt8);
    unsigned next = load(first);
    for (std::uint64_t row = first; row < end; ++row) {
      const unsigned set = next;
      if (row + 1 < end) next = load(row + 1);
      stages_.take(set);
      compute(row, set);
    }
  }

 private:
  vector::RowTile tile(std::uint64_t row) const { return {row, 1, work_.columns, work_.columns}; }

  unsigned load(std::uint64_t row) {
    const std::uint64_t length = std::uint64_t{2} * work_.columns;
    const unsigned set = stages_.begin_load();
    vector::load_tile(port_, left_[set], {work_.x, length, 0}, tile(row), kTypeA);
    vector::load_tile(port_, right_[set], {work_.x, length, work_.columns}, tile(row), kTypeA);
    stages_.filled(set);
    return set;
  }
  void compute(std::uint64_t row, unsigned set) {
    const vector::Flat all(port_, work_.columns), one(port_, 1);
    all.cast(a_, DataType::kFp32, left_[set], kTypeA);
    all.cast(b_, DataType::kFp32, right_[set], kTypeA);
    stages_.consumed(set);
    all.silu(y_, a_);
    all.issue(VectorOp::kMul, y_, y_, b_);
    all.issue(VectorOp::kAbs, a_, y_);
    vector::largest_sizes(port_, largest_, a_, tile(0));
    one.issue(VectorOp::kDiv, factor_, constant_, largest_);
    vector::spread(port_, a_, factor_, tile(0));
    all.issue(VectorOp::kMul, y_, y_, a_);
    vector::narrow(all, y_);
    const unsigned result = stages_.begin_result();
    one.scalar(VectorOp::kMuls, scale_, largest_, 1 / vector::kMostInt8);
    vector::to_int8(all, out_, y_);
    stages_.computed(result);
    vector::store_numbers(port_, work_.scales, row, scale_, 1);
    vector::store_tile(port_, {work_.y, work_.columns, 0}, tile(row), out_, DataType::kInt8);
    stages_.stored(result);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  std::uint32_t left_[kSets] = {}, right_[kSets] = {}, a_ = 0, b_ = 0, y_ = 0, out_ = 0;
  std::uint32_t constant_ = 0, largest_ = 0, factor_ = 0, scale_ = 0;
};

int kernel(AicorePort& port) {
  Rows(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t rows = params.sides[0], columns = params.sides[1] / 2;
  if (rows == 0 || columns == 0) return;
  if (columns * kColumnBytes + kRest > stream.limits().ub) {
    return stream.refuse("a row must fit into UB");
  }
  Work work;
  work.x = params.inputs[0], work.y = params.results[0], work.scales = params.results[1];
  work.rows = static_cast<std::uint32_t>(rows), work.columns = static_cast<std::uint32_t>(columns);
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, rows);
}

void reference(const TensorParams& params, const double* const* inputs, double* const* results) {
  const std::uint64_t columns = params.sides[1] / 2;
  for (std::uint64_t row = 0; row < params.sides[0]; ++row) {
    const double* const x = inputs[0] + row * 2 * columns;
    double* const y = results[0] + row * columns;
    double largest = 0;
    for (std::uint64_t i = 0; i < columns; ++i) {
      y[i] = x[i] / (1 + std::exp(-x[i])) * x[columns + i];
      largest = std::fmax(largest, std::fabs(y[i]));
    }
    results[1][row] = largest / vector::kMostInt8;
    for (std::uint64_t i = 0; largest != 0 && i < columns; ++i) {
      y[i] = std::nearbyint(y[i] / results[1][row]);
    }
  }
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
NPU_REFERENCE(npu::kernels::reference, npu::operators::TensorParams)
