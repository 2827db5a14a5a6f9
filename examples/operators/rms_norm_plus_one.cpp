// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean of the row's squares + epsilon) * (1 + weight), computed in fp32. A block
// computes its rows one after the other, and loads the next one meanwhile.
#include <cmath>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

// What the host's entry tells the kernel: a multiple of 8 bytes.
struct Work {
  std::uint64_t x = 0, weight = 0, y = 0;
  std::uint32_t rows = 0, columns = 0;
  float epsilon = 0;
  std::uint32_t reserved = 0;
};

// Bytes of UB for a column: two rows, the weights and a result as they are stored; weights, x and
// squares in fp32.
constexpr std::uint32_t kColumnBytes = 4 * size_of(kTypeA) + 3 * size_of(DataType::kFp32);
constexpr std::uint32_t kRest = 16 * aicore::kLocalAlignment;

class Rows {
 public:
  Rows(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    for (auto& at : in_) at = ub.take(work.columns * size_of(kTypeA));
    out_ = ub.take(work.columns * size_of(kTypeA));
    weight_in_ = ub.take(work.columns * size_of(kTypeA));
    for (auto* at : {&weight_, &x_, &squares_}) {
      *at = ub.take(work.columns * size_of(DataType::kFp32));
    }
    sum_ = ub.take(aicore::kLocalAlignment);
  }

  void run() {
    const auto& call = port_.call();
    const std::uint64_t first = std::uint64_t{work_.rows} * call.block / call.blocks;
    const std::uint64_t end = std::uint64_t{work_.rows} * (call.block + 1) / call.blocks;
    if (first == end) return;
    load_weight();
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

  void load_weight() {
    const Flag<Pipe::kMte2, Pipe::kVector> full(port_, kSets);  // the sets have 0 and 1
    vector::load_tile(port_, weight_in_, {work_.weight, work_.columns, 0}, tile(0), kTypeA);
    full.set();
    full.wait();
    const vector::Flat all(port_, work_.columns);
    all.cast(weight_, DataType::kFp32, weight_in_, kTypeA);
    all.scalar(VectorOp::kAdds, weight_, weight_, 1);
  }
  unsigned load(std::uint64_t row) {
    const unsigned set = stages_.begin_load();
    vector::load_tile(port_, in_[set], {work_.x, work_.columns, 0}, tile(row), kTypeA);
    stages_.filled(set);
    return set;
  }
  void compute(std::uint64_t row, unsigned set) {
    const vector::Flat all(port_, work_.columns);
    const AreaTile area{0, 0, 1, work_.columns};
    all.cast(x_, DataType::kFp32, in_[set], kTypeA);
    stages_.consumed(set);
    all.issue(VectorOp::kMul, squares_, x_, x_);
    reduce_rows(port_, VectorOp::kReduceSum, sum_, squares_, area);
    number_op(port_, VectorOp::kMuls, sum_, sum_, 0, 1, 1.0F / static_cast<float>(work_.columns));
    number_op(port_, VectorOp::kAdds, sum_, sum_, 0, 1, work_.epsilon);
    number_op(port_, VectorOp::kSqrt, sum_, sum_, 0, 1);
    row_op(port_, VectorOp::kBroadcastDiv, x_, x_, sum_, area);
    all.issue(VectorOp::kMul, x_, x_, weight_);
    const unsigned result = stages_.begin_result();
    all.cast(out_, kTypeA, x_, DataType::kFp32);
    stages_.computed(result);
    vector::store_tile(port_, {work_.y, work_.columns, 0}, tile(row), out_, kTypeA);
    stages_.stored(result);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  std::uint32_t in_[kSets] = {}, out_ = 0, weight_in_ = 0, weight_ = 0, x_ = 0, squares_ = 0,
                sum_ = 0;
};

int kernel(AicorePort& port) {
  Rows(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t rows = params.sides[0], columns = params.sides[1];
  if (rows == 0 || columns == 0) return;
  if (columns * kColumnBytes + kRest > stream.limits().ub) {
    return stream.refuse("a row must fit into UB");
  }
  Work work;
  work.x = params.inputs[0], work.weight = params.inputs[1], work.y = params.results[0];
  work.rows = static_cast<std::uint32_t>(rows), work.columns = static_cast<std::uint32_t>(columns);
  work.epsilon = params.epsilon;
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, rows);
}

void reference(const TensorParams& params, const double* const* inputs, double* const* results) {
  const std::uint64_t columns = params.sides[1];
  for (std::uint64_t row = 0; row < params.sides[0]; ++row) {
    const double* const x = inputs[0] + row * columns;
    double squares = 0;
    for (std::uint64_t i = 0; i < columns; ++i) squares += x[i] * x[i];
    const double root = std::sqrt(squares / static_cast<double>(columns) + params.epsilon);
    for (std::uint64_t i = 0; i < columns; ++i) {
      results[0][row * columns + i] = x[i] / root * (1 + inputs[1][i]);
    }
  }
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
NPU_REFERENCE(npu::kernels::reference, npu::operators::TensorParams)
