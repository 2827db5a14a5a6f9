// SPDX-License-Identifier: Apache-2.0
// Softmax of each row. NPU_JIT_ELEMENT_A (from) and NPU_JIT_ELEMENT_C (to): half, bfloat16 or
// float; SoftmaxParams. Rows that fit into UB are read once, longer ones twice.
#include "kernels/device/vector/row_buffers.hpp"
#include "kernels/device/vector/rows_work.hpp"
#include "kernels/device/vector/softmax_columns.hpp"
#include "kernels/device/vector/softmax_functions.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;

class SoftmaxRows {
 public:
  SoftmaxRows(AicorePort& port, const vector::RowsWork& work)
      : port_(port), work_(work), ub_(port), stages_(port) {}

  std::uint32_t space() const { return ub_.space(); }

  void whole(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    const std::uint32_t x = load(i, tile);
    reduce_rows(port_, VectorOp::kReduceMax, ub_.number(0), x, tile);
    row_op(port_, VectorOp::kBroadcastSub, ub_.work(), x, ub_.number(0), tile);
    stages_.consumed(i);
    element_op(port_, kExp, ub_.work(), ub_.work(), tile);
    reduce_rows(port_, VectorOp::kReduceSum, ub_.number(1), ub_.work(), tile);
    divide_and_store(ub_.number(1), tile);
  }

  // The largest and the sum so far are kept from part to part. The largest is finite: infinitely
  // small parts leave the sum 0, not no number.
  void parts(std::uint32_t row) {
    vector::for_parts(work_, row, space(), [&](const AreaTile& tile) {
      const bool first = tile.column == 0;
      const unsigned i = stages_.begin_load();
      const std::uint32_t x = load(i, tile);
      reduce_rows(port_, VectorOp::kReduceMax, part_max(), x, tile);
      of_number(VectorOp::kMaxs, part_max(), part_max(), 0, -kLargest);
      if (!first) of_number(VectorOp::kMax, part_max(), largest(), part_max());
      row_op(port_, VectorOp::kBroadcastSub, ub_.work(), x, part_max(), tile);
      stages_.consumed(i);
      element_op(port_, kExp, ub_.work(), ub_.work(), tile);
      reduce_rows(port_, VectorOp::kReduceSum, part_sum(), ub_.work(), tile);
      if (!first) {
        of_number(VectorOp::kSub, largest(), largest(), part_max());
        of_number(kExp, largest(), largest(), 0);
        of_number(VectorOp::kMul, sum(), sum(), largest());
        of_number(VectorOp::kAdd, part_sum(), part_sum(), sum());
      }
      of_number(VectorOp::kCopy, sum(), part_sum(), 0);
      of_number(VectorOp::kCopy, largest(), part_max(), 0);
    });
    vector::for_parts(work_, row, space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      const std::uint32_t x = load(i, tile);
      row_op(port_, VectorOp::kBroadcastSub, ub_.work(), x, largest(), tile);
      stages_.consumed(i);
      element_op(port_, kExp, ub_.work(), ub_.work(), tile);
      divide_and_store(sum(), tile);
    });
  }

 private:
  static constexpr float kLargest = 3.402823466e38F;
  // What narrower types hold of it, the unit's own instruction gives.
  static constexpr VectorOp kExp =
      kTypeC == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp;
  std::uint32_t largest() const { return ub_.number(0); }
  std::uint32_t sum() const { return ub_.number(1); }
  std::uint32_t part_max() const { return ub_.number(2); }
  std::uint32_t part_sum() const { return ub_.number(3); }

  // Where the tile lies in fp32.
  std::uint32_t load(unsigned i, const AreaTile& tile) {
    load_rows(port_, ub_.in(i), {work_.from, work_.from_pitch}, tile, kTypeA);
    stages_.loaded(i);
    if (kTypeA == DataType::kFp32) return ub_.in(i);
    convert_rows(port_, ub_.work(), DataType::kFp32, ub_.in(i), kTypeA, tile.rows, tile.columns);
    return ub_.work();
  }
  void of_number(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t b,
                 float scalar = 0) {
    number_op(port_, op, to, a, b, 1, scalar);
  }
  void divide_and_store(std::uint32_t sums, const AreaTile& tile) {
    row_op(port_, VectorOp::kBroadcastDiv, ub_.work(), ub_.work(), sums, tile);
    const unsigned i = stages_.begin_result();
    convert_rows(port_, ub_.out(i), kTypeC, ub_.work(), DataType::kFp32, tile.rows, tile.columns);
    stages_.computed(i);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, ub_.out(i), kTypeC);
    stages_.stored(i);
  }

  AicorePort& port_;
  const vector::RowsWork work_;
  const vector::RowBuffers ub_;
  Stages stages_;
};

void host(std::uint32_t block_num, OperatorStream& stream, const SoftmaxParams& params) {
  vector::RowsWork work;
  work.from = params.from, work.to = params.to;
  work.from_pitch = params.from_pitch, work.to_pitch = params.to_pitch;
  work.rows = params.rows, work.columns = params.columns;
  vector::run_rows(block_num, stream, work);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR((npu::kernels::vector::rows_kernel<npu::kernels::SoftmaxRows,
                                                npu::kernels::vector::SoftmaxColumns,
                                                npu::kernels::vector::SoftmaxFunctions>),
             npu::kernels::vector::RowsWork, npu::kernels::host, npu::operators::SoftmaxParams)
