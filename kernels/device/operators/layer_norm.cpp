// SPDX-License-Identifier: Apache-2.0
// Each row less its mean, divided by its deviation. NPU_JIT_ELEMENT_A (from, gamma, beta) and
// NPU_JIT_ELEMENT_C (to): half, bfloat16 or float; LayerNormParams. Rows that fit into UB are read
// once, longer ones three times.
#include "kernels/device/vector/row_buffers.hpp"
#include "kernels/device/vector/rows_work.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;

struct Work : vector::RowsWork {
  std::uint64_t beta = 0;
};

class LayerNormRows {
 public:
  LayerNormRows(AicorePort& port, const Work& work)
      : port_(port), work_(work), ub_(port), stages_(port) {}

  std::uint32_t space() const { return ub_.space(); }
  // Rows of a tile; 0: not even one fits.
  std::uint32_t piece() const {
    if (aicore::round_up<std::uint64_t>(work_.columns, 16) > space() / 4) return 0;
    return std::max(space() / aicore::row_bytes(work_.columns, DataType::kFp32), 1U);
  }

  void whole(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load(i, tile, true);
    const std::uint32_t x = converted(ub_.in(i), ub_.work(), tile);
    add_up(x, means(), tile, true);
    make_mean(tile.rows);
    center(x, tile);
    add_squares(tile, true);
    make_root(tile.rows);
    finish(i, tile);
  }

  void parts(std::uint32_t row) {
    for_rows_parts(row, false, [&](unsigned i, std::uint32_t x, const AreaTile& tile) {
      add_up(x, means(), tile, tile.column == 0);
      stages_.consumed(i);
    });
    make_mean(1);
    for_rows_parts(row, false, [&](unsigned i, std::uint32_t x, const AreaTile& tile) {
      center(x, tile);
      stages_.consumed(i);
      add_squares(tile, tile.column == 0);
    });
    make_root(1);
    for_rows_parts(row, true, [&](unsigned i, std::uint32_t x, const AreaTile& tile) {
      center(x, tile);
      finish(i, tile);
    });
  }

 private:
  template <class Use>
  void for_rows_parts(std::uint32_t row, bool with_tables, Use use) {
    vector::for_parts(work_, row, space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      load(i, tile, with_tables);
      use(i, converted(ub_.in(i), ub_.work(), tile), tile);
    });
  }
  // gamma is loaded with the rows, beta where only one set of numbers has room.
  void load(unsigned i, const AreaTile& tile, bool with_gamma) {
    load_rows(port_, ub_.in(i), {work_.from, work_.from_pitch}, tile, kTypeA);
    if (with_gamma && work_.gamma != 0) {
      load_rows(port_, ub_.second_in(i), {work_.gamma, 0}, {0, tile.column, 1, tile.columns},
                kTypeA);
    }
    stages_.loaded(i);
  }
  std::uint32_t converted(std::uint32_t from, std::uint32_t to, const AreaTile& tile) {
    if (kTypeA == DataType::kFp32) return from;
    convert_rows(port_, to, DataType::kFp32, from, kTypeA, tile.rows, tile.columns);
    return to;
  }
  std::uint32_t means() const { return ub_.number(0); }
  std::uint32_t roots() const { return ub_.number(1); }
  std::uint32_t part() const { return ub_.number(2); }

  void add_up(std::uint32_t x, std::uint32_t sums, const AreaTile& tile, bool first) {
    reduce_rows(port_, VectorOp::kReduceSum, first ? sums : part(), x, tile);
    if (!first) number_op(port_, VectorOp::kAdd, sums, sums, part(), tile.rows);
  }
  float share() const { return 1.0F / static_cast<float>(work_.columns); }
  void make_mean(std::uint32_t rows) {
    number_op(port_, VectorOp::kMuls, means(), means(), 0, rows, share());
  }
  // The rows less their mean, at work().
  void center(std::uint32_t x, const AreaTile& tile) {
    row_op(port_, VectorOp::kBroadcastSub, ub_.work(), x, means(), tile);
  }
  void add_squares(const AreaTile& tile, bool first) {
    tile_op(port_, VectorOp::kMul, ub_.second_work(), ub_.work(), ub_.work(), tile);
    add_up(ub_.second_work(), roots(), tile, first);
  }
  void make_root(std::uint32_t rows) {
    number_op(port_, VectorOp::kMuls, roots(), roots(), 0, rows, share());
    number_op(port_, VectorOp::kAdds, roots(), roots(), 0, rows, work_.epsilon);
    number_op(port_, VectorOp::kSqrt, roots(), roots(), 0, rows);
  }
  // A row of a table with every row of the tile.
  void with_table(VectorOp op, std::uint32_t table, const AreaTile& tile) {
    const std::uint32_t row = converted(table, ub_.third_work(), {0, 0, 1, tile.columns});
    const std::uint32_t pitch = aicore::row_bytes(tile.columns, DataType::kFp32);
    for (std::uint32_t i = 0; i < tile.rows; ++i) {
      const std::uint32_t at = ub_.work() + i * pitch;
      Vector v = row_vector(op, DataType::kFp32, at, at, 1, tile.columns);
      v.b = row;
      port_.issue(v);
    }
  }
  void finish(unsigned i, const AreaTile& tile) {
    row_op(port_, VectorOp::kBroadcastDiv, ub_.work(), ub_.work(), roots(), tile);
    if (work_.gamma != 0) with_table(VectorOp::kMul, ub_.second_in(i), tile);
    stages_.consumed(i);
    if (work_.beta != 0) add_beta(tile);
    const unsigned result = stages_.begin_result();
    convert_rows(port_, ub_.out(result), kTypeC, ub_.work(), DataType::kFp32, tile.rows,
                 tile.columns);
    stages_.computed(result);
    store_rows(port_, {work_.to, work_.to_pitch}, tile, ub_.out(result), kTypeC);
    stages_.stored(result);
  }
  void add_beta(const AreaTile& tile) {
    const unsigned i = stages_.begin_load();
    load_rows(port_, ub_.second_in(i), {work_.beta, 0}, {0, tile.column, 1, tile.columns}, kTypeA);
    stages_.loaded(i);
    with_table(VectorOp::kAdd, ub_.second_in(i), tile);
    stages_.consumed(i);
  }

  AicorePort& port_;
  const Work work_;
  const vector::RowBuffers ub_;
  Stages stages_;
};

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  {
    LayerNormRows rows(port, work);
    const std::uint32_t piece = rows.piece();
    aicore::for_rows(port.call(), work.rows, std::max(piece, 1U),
                     [&](std::uint32_t first, std::uint32_t count) {
                       if (piece != 0) return rows.whole({first, 0, count, work.columns});
                       rows.parts(first);
                     });
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const LayerNormParams& params) {
  Work work;
  work.from = params.from, work.to = params.to;
  work.gamma = params.gamma, work.beta = params.beta;
  work.rows = params.rows, work.columns = params.columns;
  work.epsilon = params.epsilon;
  if (!aligned(params.beta, kTypeA)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  vector::run_rows(block_num, stream, work);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::LayerNormParams)
