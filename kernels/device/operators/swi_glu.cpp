// SPDX-License-Identifier: Apache-2.0
// silu(left half) * right half of each row. NPU_JIT_ELEMENT_A (from) and NPU_JIT_ELEMENT_C (to):
// half, bfloat16 or float; SwiGluParams. Tiles as the library of operators chooses them
// (docs/sources/operators.md B5): on as many cores as can be, as few and as large as can be. Cores
// that compute in registers do a tile in one vector function, without a buffer of fp32.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/function_builder.hpp"
#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");

struct Work {
  std::uint64_t from = 0, to = 0;
  std::uint32_t rows = 0, columns = 0;  // of the result
  std::uint32_t tile_rows = 0, tile_columns = 0;
  std::uint32_t sets = kSets, reserved = 0;
};

constexpr std::uint32_t kWorking = kTypeA == DataType::kFp32 ? 1 : 2;  // tiles of fp32
constexpr bool kAllFp32 = kTypeA == DataType::kFp32 && kTypeC == DataType::kFp32;
constexpr std::uint32_t kNarrow = std::min(size_of(kTypeA), size_of(kTypeC));
constexpr std::uint32_t kBlock = aicore::kLocalAlignment / kNarrow;  // elements
constexpr std::uint32_t kLine = 512 / kNarrow;                       // of the L2, elements

// What one choice of tiles comes to.
struct Choice {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t cores = 0, tiles = 0, whole = 0;
  std::uint64_t size() const { return std::uint64_t{rows} * columns; }
  std::uint64_t per_core() const { return cores == 0 ? 0 : aicore::divide_up(tiles, cores); }
  bool better_than(const Choice& other) const {
    if (other.tiles == 0 || cores != other.cores) return other.tiles == 0 || cores > other.cores;
    if (tiles != other.tiles) return tiles < other.tiles;
    return size() != other.size() ? size() > other.size() : whole > other.whole;
  }
};

class Tiling {
 public:
  Tiling(const Work& work, const CoreLimits& limits, std::uint32_t cores)
      : work_(work),
        ub_(limits.ub),
        cores_(cores),
        working_(limits.vector_functions ? 0 : kWorking * size_of(DataType::kFp32)) {}

  Choice best(std::uint32_t sets) const {
    const std::uint32_t element = sets * (2 * size_of(kTypeA) + size_of(kTypeC)) + working_;
    const auto most = static_cast<std::uint32_t>(ub_ / element / kBlock * kBlock);
    const std::uint32_t most_rows = std::min(work_.rows, kMostBlocks);
    std::uint32_t columns = std::min({work_.columns, most, kMostLength});
    if (columns < work_.columns && columns > kLine) columns = columns / kLine * kLine;
    const Choice narrow = choice(1, columns);
    if (one_row(columns)) return narrow;
    Choice best;
    for (;;) {
      const std::uint32_t rows = std::min(most / aicore::round_up(columns, kBlock), most_rows);
      if (rows == 0 || (rows > 1 && one_row(columns))) break;
      const Choice next = choice(rows, columns);
      const bool tail_fits = rows == 1 || !one_row(work_.columns % columns);
      if (tail_fits && next.better_than(best)) best = next;
      if (columns <= kLine || rows >= most_rows) break;
      columns = columns % kLine == 0 ? columns - kLine : columns / kLine * kLine;
    }
    return best.tiles == 0 ? narrow : best;
  }

 private:
  // What a copy's words hold: blocks, their length, how far they are apart.
  static constexpr std::uint32_t kMostBlocks = 4095, kMostLength = 65535;
  bool one_row(std::uint32_t columns) const {
    const std::uint64_t apart = std::uint64_t{2} * work_.columns - columns;
    return work_.columns % kBlock == 0 ? apart > std::uint64_t{kMostLength} * kBlock
                                       : apart * size_of(kTypeA) > kMostLength;
  }
  Choice choice(std::uint32_t rows, std::uint32_t columns) const {
    Choice made;
    made.rows = rows, made.columns = columns;
    made.tiles = aicore::divide_up<std::uint64_t>(work_.rows, rows) *
                 aicore::divide_up<std::uint64_t>(work_.columns, columns);
    made.whole = std::uint64_t{work_.rows / rows} * (work_.columns / columns);
    made.cores = std::min<std::uint64_t>(made.tiles, cores_);
    return made;
  }

  const Work& work_;
  const std::uint64_t ub_;
  const std::uint32_t cores_;
  const std::uint32_t working_;  // bytes of an element
};

template <unsigned kBuffers>
class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    const std::uint32_t count = work.tile_rows * aicore::round_up(work.tile_columns, kBlock);
    aicore::UbParts ub;
    for (unsigned i = 0; i < kBuffers; ++i) {
      left_[i] = ub.take(count * size_of(kTypeA));
      right_[i] = ub.take(count * size_of(kTypeA));
      out_[i] = ub.take(count * size_of(kTypeC));
    }
    for (std::uint32_t i = 0; !port.has_vector_functions() && i < kWorking; ++i) {
      work_at_[i] = ub.take(count * size_of(DataType::kFp32));
    }
    if (kAllFp32 && !port.has_vector_functions()) {
      vector::Flat(port, count).scalar(VectorOp::kDuplicate, work_at_[0], 0, 1);
    }
  }

  void run() {
    const AreaTile largest{0, 0, work_.tile_rows, work_.tile_columns};
    for_area(port_.call(), work_.rows, work_.columns, largest,
             [&](const AreaTile& tile) { one(tile); });
  }

 private:
  void one(const AreaTile& part) {
    const vector::RowTile tile{part.row, part.rows, part.columns,
                               aicore::round_up(part.columns, kBlock)};
    const std::uint64_t length = std::uint64_t{2} * work_.columns;
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, left_[i], {work_.from, length, part.column}, tile, kTypeA);
    vector::load_tile(port_, right_[i], {work_.from, length, work_.columns + part.column}, tile,
                      kTypeA);
    stages_.loaded(i);
    const unsigned set =
        port_.has_vector_functions() ? in_registers(i, tile.count()) : in_ub(i, tile.count());
    stages_.computed(set);
    vector::store_tile(port_, {work_.to, work_.columns, part.column}, tile, out_[set], kTypeC);
    stages_.stored(set);
  }

  // The result's set.
  unsigned in_registers(unsigned i, std::uint32_t count) {
    FunctionBuilder<8> function;
    function.load(0, left_[i], kTypeA);
    function.load(1, right_[i], kTypeA);
    const std::uint8_t x = function.cast(2, DataType::kFp32, 0, kTypeA);
    const std::uint8_t right = function.cast(3, DataType::kFp32, 1, kTypeA);
    function.op(VectorOp::kMuls, 4, x, 0, -1);
    function.op(VectorOp::kExp, 4, 4);
    function.op(VectorOp::kAdds, 4, 4, 0, 1);
    function.op(VectorOp::kDiv, 4, x, 4);
    function.op(VectorOp::kMul, 4, 4, right);
    const unsigned set = stages_.begin_result();
    function.store(function.cast(5, kTypeC, 4, DataType::kFp32), out_[set], kTypeC);
    function.issue(port_, 1, count);
    stages_.consumed(i);
    return set;
  }
  unsigned in_ub(unsigned i, std::uint32_t count) {
    if constexpr (kAllFp32) return in_fp32(i, count);
    const vector::Flat all(port_, count);
    const std::uint32_t y = work_at_[0], x = work_at_[1];
    if constexpr (kTypeA == DataType::kFp32) {
      all.silu(y, left_[i]);
    } else {
      all.cast(x, DataType::kFp32, left_[i], kTypeA);
      all.silu(y, x);
      all.cast(x, DataType::kFp32, right_[i], kTypeA);
    }
    const std::uint32_t right = kTypeA == DataType::kFp32 ? right_[i] : x;
    const unsigned set = stages_.begin_result();
    if constexpr (kTypeC == DataType::kFp32) {
      all.issue(VectorOp::kMul, out_[set], y, right);
      stages_.consumed(i);
    } else {
      all.issue(VectorOp::kMul, y, y, right);
      stages_.consumed(i);
      all.cast(out_[set], kTypeC, y, DataType::kFp32);
    }
    return set;
  }
  // Where the result comes to, with ones beside it: x times the reciprocal of 1 + exp(-x).
  unsigned in_fp32(unsigned i, std::uint32_t count) {
    const vector::Flat all(port_, count);
    const unsigned set = stages_.begin_result();
    const std::uint32_t y = out_[set], x = left_[i];
    all.scalar(VectorOp::kMuls, y, x, -1);
    all.issue(VectorOp::kExp, y, y);
    all.scalar(VectorOp::kAdds, y, y, 1);
    all.issue(VectorOp::kDiv, y, work_at_[0], y);
    all.issue(VectorOp::kMul, y, y, x);
    all.issue(VectorOp::kMul, y, y, right_[i]);
    stages_.consumed(i);
    return set;
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kBuffers, kBuffers> stages_;
  std::uint32_t left_[kBuffers] = {}, right_[kBuffers] = {}, out_[kBuffers] = {}, work_at_[2] = {};
};

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  work.sets == 1 ? Tiles<1>(port, work).run() : Tiles<kSets>(port, work).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const SwiGluParams& params) {
  if (params.rows == 0 || params.columns == 0) return;
  if (params.rows > kMostSide || params.columns > kMostSide / 2) {
    return stream.refuse("rows must be below 2^31, columns of the result below 2^30");
  }
  if (!aligned(params.from, kTypeA) || !aligned(params.to, kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Work work;
  work.from = params.from, work.to = params.to;
  work.rows = params.rows, work.columns = params.columns;
  Launches launches(stream, CoreKind::kVector, block_num);
  const Tiling tiling(work, stream.limits(), launches.cores(CoreKind::kVector));
  Choice chosen = tiling.best(kSets);
  if (chosen.per_core() == 2) {
    const Choice once = tiling.best(1);
    if (once.per_core() == 1 && once.cores >= chosen.cores) chosen = once, work.sets = 1;
  }
  work.tile_rows = chosen.rows, work.tile_columns = chosen.columns;
  launches.launch(CoreKind::kVector, 0U, work, chosen.tiles);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::SwiGluParams)
