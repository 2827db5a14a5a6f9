// SPDX-License-Identifier: Apache-2.0
// Each row divided by the root of the mean of its squares. NPU_JIT_ELEMENT_A (from, gamma) and
// NPU_JIT_ELEMENT_C (to): half, bfloat16 or float; RmsNormParams. Rows that fit into UB are read
// once, longer ones twice.
#include "kernels/device/vector/rms_norm_functions.hpp"
#include "kernels/device/vector/row_buffers.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;

class RmsNormRows {
 public:
  RmsNormRows(AicorePort& port, const vector::RowsWork& work)
      : port_(port), work_(work), ub_(port), stages_(port) {}

  std::uint32_t space() const { return ub_.space(); }

  void whole(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load(i, tile, true);
    const std::uint32_t x = converted(ub_.in(i), ub_.work(), tile);
    add_squares(x, tile, true);
    make_root(tile.rows);
    finish(i, x, tile);
  }

  void parts(std::uint32_t row) {
    vector::for_parts(work_, row, space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      load(i, tile, false);
      add_squares(converted(ub_.in(i), ub_.work(), tile), tile, tile.column == 0);
      stages_.consumed(i);
    });
    make_root(1);
    vector::for_parts(work_, row, space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      load(i, tile, true);
      finish(i, converted(ub_.in(i), ub_.work(), tile), tile);
    });
  }

 private:
  void load(unsigned i, const AreaTile& tile, bool with_gamma) {
    load_rows(port_, ub_.in(i), {work_.from, work_.from_pitch}, tile, kTypeA);
    if (with_gamma && work_.gamma != 0) {
      load_rows(port_, ub_.second_in(i), {work_.gamma, 0}, {0, tile.column, 1, tile.columns},
                kTypeA);
    }
    stages_.loaded(i);
  }
  // Where rows lie in fp32: where they are, or at `to`.
  std::uint32_t converted(std::uint32_t from, std::uint32_t to, const AreaTile& tile) {
    if (kTypeA == DataType::kFp32) return from;
    convert_rows(port_, to, DataType::kFp32, from, kTypeA, tile.rows, tile.columns);
    return to;
  }
  std::uint32_t sums() const { return ub_.number(0); }
  std::uint32_t part_sums() const { return ub_.number(1); }

  void add_squares(std::uint32_t x, const AreaTile& tile, bool first) {
    tile_op(port_, VectorOp::kMul, ub_.second_work(), x, x, tile);
    reduce_rows(port_, VectorOp::kReduceSum, first ? sums() : part_sums(), ub_.second_work(), tile);
    if (!first) number_op(port_, VectorOp::kAdd, sums(), sums(), part_sums(), tile.rows);
  }
  // The root of each row's mean, from the sums.
  void make_root(std::uint32_t rows) {
    number_op(port_, VectorOp::kMuls, sums(), sums(), 0, rows,
              1.0F / static_cast<float>(work_.columns));
    number_op(port_, VectorOp::kAdds, sums(), sums(), 0, rows, work_.epsilon);
    number_op(port_, VectorOp::kSqrt, sums(), sums(), 0, rows);
  }
  void finish(unsigned i, std::uint32_t x, const AreaTile& tile) {
    row_op(port_, VectorOp::kBroadcastDiv, ub_.work(), x, sums(), tile);
    if (work_.gamma != 0) {
      const AreaTile one{0, 0, 1, tile.columns};
      const std::uint32_t gamma = converted(ub_.second_in(i), ub_.third_work(), one);
      multiply_rows(port_, ub_.work(), ub_.work(), gamma, tile.rows, tile.columns, DataType::kFp32);
    }
    stages_.consumed(i);
    const unsigned result = stages_.begin_result();
    convert_rows(port_, ub_.out(result), kTypeC, ub_.work(), DataType::kFp32, tile.rows,
                 tile.columns);
    stages_.computed(result);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, ub_.out(result), kTypeC);
    stages_.stored(result);
  }

  AicorePort& port_;
  const vector::RowsWork work_;
  const vector::RowBuffers ub_;
  Stages stages_;
};

void host(std::uint32_t block_num, OperatorStream& stream, const RmsNormParams& params) {
  vector::RowsWork work;
  work.from = params.from, work.to = params.to, work.gamma = params.gamma;
  work.from_pitch = params.from_pitch, work.to_pitch = params.to_pitch;
  work.rows = params.rows, work.columns = params.columns;
  work.epsilon = params.epsilon;
  vector::run_rows(block_num, stream, work);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR((npu::kernels::vector::rows_kernel<npu::kernels::RmsNormRows,
                                                npu::kernels::vector::RmsNormFunctions>),
             npu::kernels::vector::RowsWork, npu::kernels::host, npu::operators::RmsNormParams)
