// SPDX-License-Identifier: Apache-2.0
// Streams of a hyper-connection mixed for each token: to[i] = sum over j of mix[i][j] * x[j], and
// gate[i] * y more if there is a y. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C, the same: float;
// TensorParams. A tile is some tokens of a part of the columns.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

static_assert(vector::kTypeA == DataType::kFp32 && vector::kTypeC == DataType::kFp32,
              "streams are mixed in float: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

struct Work {
  std::uint64_t x = 0, mix = 0, y = 0, gates = 0, to = 0;  // y: 0: none
  std::uint32_t tokens = 0, streams = 0, columns = 0;
  std::uint32_t wide = 0;  // columns of a tile
};

constexpr std::uint32_t kMostStreams = 16;
constexpr std::uint32_t kRows = 8;  // of a tile: a block of UB for each number of its tokens

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    aicore::UbParts ub;
    const std::uint32_t area = kRows * work.wide * 4;
    for (unsigned i = 0; i < kSets; ++i) {
      x_[i] = ub.take(work.streams * area);
      y_[i] = ub.take(area);
      mix_[i] = ub.take(kRows * aicore::round_up(work.streams * work.streams, 8U) * 4);
      gates_[i] = ub.take(kRows * aicore::round_up(work.streams, 8U) * 4);
      out_[i] = ub.take(area);
    }
    product_ = ub.take(area);
    mix_of_ = ub.take(aicore::round_up(work.streams * work.streams, 8U) * 32);
    gates_of_ = ub.take(aicore::round_up(work.streams, 8U) * 32);
  }

  void run() {
    const AreaTile largest{0, 0, kRows, work_.wide};
    for_area(port_.call(), work_.tokens, work_.columns, largest,
             [&](const AreaTile& tile) { one(tile); });
  }

 private:
  // Numbers of the tile's tokens, `count` of each, as a row for each number.
  void numbers(std::uint32_t to, std::uint32_t from, std::uint32_t count) {
    Vector v = row_vector(VectorOp::kTranspose, DataType::kFp32, to, from, kRows, count);
    v.a_pitch = aicore::round_up(count, 8U) * 4;
    v.to_pitch = kRows * 4;
    port_.issue(v);
  }
  void one(const AreaTile& tile) {
    const std::uint32_t squares = work_.streams * work_.streams;
    const unsigned i = stages_.begin_load();
    const std::uint64_t pitch = std::uint64_t{work_.streams} * work_.columns;
    for (std::uint32_t j = 0; j < work_.streams; ++j) {
      vector::load_tile(port_, x_[i] + j * kRows * work_.wide * 4,
                        {work_.x, pitch, std::uint64_t{j} * work_.columns + tile.column},
                        {tile.row, tile.rows, tile.columns, work_.wide}, DataType::kFp32);
    }
    vector::load_tile(port_, mix_[i], {work_.mix, squares, 0},
                      {tile.row, tile.rows, squares, aicore::round_up(squares, 8U)},
                      DataType::kFp32);
    if (work_.y != 0) {
      vector::load_tile(port_, y_[i], {work_.y, work_.columns, tile.column},
                        {tile.row, tile.rows, tile.columns, work_.wide}, DataType::kFp32);
      vector::load_tile(port_, gates_[i], {work_.gates, work_.streams, 0},
                        {tile.row, tile.rows, work_.streams, aicore::round_up(work_.streams, 8U)},
                        DataType::kFp32);
    }
    stages_.loaded(i);
    numbers(mix_of_, mix_[i], squares);
    if (work_.y != 0) numbers(gates_of_, gates_[i], work_.streams);
    const AreaTile area{0, 0, tile.rows, work_.wide};
    for (std::uint32_t to = 0; to < work_.streams; ++to) {
      const unsigned set = stages_.begin_result();
      for (std::uint32_t j = 0; j < work_.streams; ++j) {
        add(out_[set], x_[i] + j * kRows * work_.wide * 4,
            mix_of_ + (to * work_.streams + j) * kRows * 4, area, j == 0);
      }
      if (work_.y != 0) add(out_[set], y_[i], gates_of_ + to * kRows * 4, area, false);
      stages_.computed(set);
      vector::store_tile(port_, {work_.to, pitch, std::uint64_t{to} * work_.columns + tile.column},
                         {tile.row, tile.rows, tile.columns, work_.wide}, out_[set],
                         DataType::kFp32);
      stages_.stored(set);
    }
    stages_.consumed(i);
  }
  void add(std::uint32_t to, std::uint32_t x, std::uint32_t by, const AreaTile& area, bool first) {
    row_op(port_, VectorOp::kBroadcastMul, first ? to : product_, x, by, area);
    if (!first) vector::Flat(port_, area.rows * work_.wide).issue(VectorOp::kAdd, to, to, product_);
  }

  AicorePort& port_;
  const Work work_;
  Stages stages_;
  std::uint32_t x_[kSets] = {}, y_[kSets] = {}, mix_[kSets] = {}, gates_[kSets] = {},
                out_[kSets] = {}, product_ = 0, mix_of_ = 0, gates_of_ = 0;
};

int kernel(AicorePort& port) {
  Tiles(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const auto* const side = params.sides;  // tokens, streams, columns
  if (side[0] == 0 || side[1] == 0 || side[2] == 0) return;
  if (side[0] > kMostSide || side[2] > kMostSide || side[1] > kMostStreams) {
    return stream.refuse("tokens and columns must be below 2^31, streams at most 16");
  }
  if (side[0] * side[1] > aicore::kMostElements / side[2]) {
    return stream.refuse("the tensors are beyond the address space");
  }
  if (params.inputs[0] == 0 || params.inputs[1] == 0 ||
      (params.inputs[2] == 0) != (params.inputs[3] == 0)) {
    return stream.refuse("an input is not given");
  }
  bool good = aligned(params.results[0], DataType::kFp32);
  for (unsigned i = 0; i < 4; ++i) good = good && aligned(params.inputs[i], DataType::kFp32);
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  Work work;
  work.x = params.inputs[0], work.mix = params.inputs[1];
  work.y = params.inputs[2], work.gates = params.inputs[3], work.to = params.results[0];
  work.tokens = static_cast<std::uint32_t>(side[0]);
  work.streams = static_cast<std::uint32_t>(side[1]);
  work.columns = static_cast<std::uint32_t>(side[2]);
  // Two of all streams, y and a result, and a product.
  const std::uint64_t numbers = (kSets * kRows * 4 + 32) * (16 * work.streams + 64) + 4096;
  const std::uint64_t each = kRows * 4 * (kSets * (work.streams + 2) + 1);
  if (stream.limits().ub < numbers + 8 * each) return stream.refuse("UB is too small");
  const auto most = static_cast<std::uint32_t>((stream.limits().ub - numbers) / each / 8 * 8);
  const std::uint32_t parts = aicore::divide_up(aicore::round_up(work.columns, 8U), most);
  work.wide = aicore::round_up(aicore::divide_up(work.columns, parts), 8U);
  const std::uint64_t tiles = aicore::divide_up(work.tokens, kRows) *
                              std::uint64_t{aicore::divide_up(work.columns, work.wide)};
  Launches(stream, CoreKind::kVector, block_num).launch(CoreKind::kVector, 0U, work, tiles);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
