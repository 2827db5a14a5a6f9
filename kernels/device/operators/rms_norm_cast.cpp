// SPDX-License-Identifier: Apache-2.0
// Rows normalised, in their own type and widened to fp32. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C,
// the same: half or bfloat16; TensorParams. A row at a time; the next one is loaded meanwhile.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

static_assert(kTypeA == vector::kTypeC && (kTypeA == DataType::kFp16 || kTypeA == DataType::kBf16),
              "what is widened is half or bfloat16: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must "
              "be the same");

struct Work {
  std::uint64_t from = 0, gamma = 0, to = 0, wide = 0;
  std::uint32_t rows = 0, columns = 0;
  float epsilon = 0;
  std::uint32_t reserved = 0;
};

// Bytes of UB for a column: two rows and gamma as they are, gamma, x, squares and the wide result
// in fp32, the result.
constexpr std::uint32_t kColumnBytes = 4 * size_of(kTypeA) + 4 * size_of(DataType::kFp32);

class Rows {
 public:
  Rows(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    for (auto& at : in_) at = ub.take(work.columns * size_of(kTypeA));
    out_ = ub.take(work.columns * size_of(kTypeA));
    gamma_in_ = ub.take(work.columns * size_of(kTypeA));
    for (auto* at : {&gamma_, &x_, &squares_, &wide_}) {
      *at = ub.take(work.columns * size_of(DataType::kFp32));
    }
    sum_ = ub.take(aicore::kLocalAlignment);
  }

  void run() {
    const auto& call = port_.call();
    const std::uint64_t first = std::uint64_t{work_.rows} * call.block / call.blocks;
    const std::uint64_t end = std::uint64_t{work_.rows} * (call.block + 1) / call.blocks;
    if (first == end) return;
    load_gamma();
    unsigned next = load(first);
    for (std::uint64_t row = first; row < end; ++row) {
      const unsigned i = next;
      if (row + 1 < end) next = load(row + 1);
      stages_.take(i);
      one(row, i);
    }
  }

 private:
  vector::RowTile tile(std::uint64_t row) const { return {row, 1, work_.columns, work_.columns}; }

  void load_gamma() {
    const Flag<Pipe::kMte2, Pipe::kVector> full(port_, kSets);
    vector::load_tile(port_, gamma_in_, {work_.gamma, work_.columns, 0}, tile(0), kTypeA);
    full.set();
    full.wait();
    vector::Flat(port_, work_.columns).cast(gamma_, DataType::kFp32, gamma_in_, kTypeA);
  }
  unsigned load(std::uint64_t row) {
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], {work_.from, work_.columns, 0}, tile(row), kTypeA);
    stages_.filled(i);
    return i;
  }
  void one(std::uint64_t row, unsigned i) {
    const vector::Flat all(port_, work_.columns);
    const AreaTile area{0, 0, 1, work_.columns};
    all.cast(x_, DataType::kFp32, in_[i], kTypeA);
    stages_.consumed(i);
    all.issue(VectorOp::kMul, squares_, x_, x_);
    reduce_rows(port_, VectorOp::kReduceSum, sum_, squares_, area);
    number_op(port_, VectorOp::kMuls, sum_, sum_, 0, 1, 1.0F / static_cast<float>(work_.columns));
    number_op(port_, VectorOp::kAdds, sum_, sum_, 0, 1, work_.epsilon);
    number_op(port_, VectorOp::kSqrt, sum_, sum_, 0, 1);
    row_op(port_, VectorOp::kBroadcastDiv, x_, x_, sum_, area);
    all.issue(VectorOp::kMul, x_, x_, gamma_);
    const unsigned set = stages_.begin_result();
    all.cast(out_, kTypeA, x_, DataType::kFp32);
    all.cast(wide_, DataType::kFp32, out_, kTypeA);
    stages_.computed(set);
    vector::store_tile(port_, {work_.to, work_.columns, 0}, tile(row), out_, kTypeA);
    vector::store_tile(port_, {work_.wide, work_.columns, 0}, tile(row), wide_, DataType::kFp32);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  std::uint32_t in_[kSets] = {}, out_ = 0, gamma_in_ = 0, gamma_ = 0, x_ = 0, squares_ = 0,
                wide_ = 0, sum_ = 0;
};

int kernel(AicorePort& port) {
  Rows(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t rows = params.sides[0], columns = params.sides[1];
  if (rows == 0 || columns == 0) return;
  if (rows > kMostSide ||
      columns * kColumnBytes + 16 * aicore::kLocalAlignment > stream.limits().ub) {
    return stream.refuse("rows must be below 2^31, and a row must fit into UB with its results");
  }
  if (params.inputs[1] == 0) return stream.refuse("there is no gamma");
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.inputs[1], kTypeA) ||
      !aligned(params.results[0], kTypeA) || !aligned(params.results[1], DataType::kFp32)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  Work work;
  work.from = params.inputs[0], work.gamma = params.inputs[1];
  work.to = params.results[0], work.wide = params.results[1];
  work.rows = static_cast<std::uint32_t>(rows), work.columns = static_cast<std::uint32_t>(columns);
  work.epsilon = params.epsilon;
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, rows);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
