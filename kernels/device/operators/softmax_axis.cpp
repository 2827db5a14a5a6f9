// SPDX-License-Identifier: Apache-2.0
// Softmax along the middle one of three axes. NPU_JIT_ELEMENT_A (from) and NPU_JIT_ELEMENT_C (to):
// half, bfloat16 or float; SoftmaxAxisParams. A tile is the whole axis by as many columns as fit
// into UB (kernel-times.md K36); if that is not even a block of each row, the axis is read in three
// passes: the largest, the sum, the results. Rows of a tile are brought together by halves. Cores
// that compute in registers have tiles and functions of their own.
#include "kernels/device/vector/softmax_axis_functions.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

static_assert(is_real(kTypeA) && is_real(kTypeC),
              "this operator is of reals: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must be half, "
              "bfloat16 or float");

struct Work : vector::AxisWork {
  // Of the generated kernels of the library, which have their sizes as arguments.
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
};

constexpr std::uint32_t kFp32 = 4;  // bytes
constexpr bool kAllFp32 = kTypeA == DataType::kFp32 && kTypeC == DataType::kFp32;
constexpr std::uint32_t kStored = std::max(size_of(kTypeA), size_of(kTypeC));
constexpr std::uint32_t kBlock =
    aicore::kLocalAlignment / std::min(size_of(kTypeA), size_of(kTypeC));  // elements
// Bytes of UB for an element: a tile is stored from where it was loaded to, two of them in turn;
// one in fp32 if they are not; what rows are brought together in. In parts, what is known of
// columns too.
constexpr std::uint32_t kWholeBytes = kSets * kStored + (kAllFp32 ? 1 : 2) * kFp32;
constexpr std::uint32_t kPartBytes = kWholeBytes + 2 * kFp32;
// What narrower types hold of it, the unit's own instruction gives.
constexpr VectorOp kExp = kTypeC == DataType::kFp32 ? VectorOp::kExpPrecise : VectorOp::kExp;

class Columns {
 public:
  Columns(AicorePort& port, const Work& work) : port_(port), work_(work) {
    const std::uint32_t count = work.rows * aicore::round_up(work.columns, kBlock);
    aicore::UbParts ub;
    for (std::uint32_t& at : stored_) at = ub.take(count * kStored);
    x_ = kAllFp32 ? 0 : ub.take(count * kFp32);
    folds_ = ub.take(count * kFp32);
    if (work.passes == 1) return;
    largest_ = ub.take(count * kFp32);
    sums_ = ub.take(count * kFp32);
  }

  void run() {
    const std::uint64_t across = work_.across();
    const auto& call = port_.call();
    const bool whole = work_.passes == 1;
    for (std::uint64_t i = call.block; i < work_.tiles(); i += call.blocks) {
      outer_ = i / across;
      column_ = i % across * work_.columns;
      columns_ =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.columns, work_.inner - column_));
      whole ? all_rows() : parts();
    }
  }

 private:
  // The largest are finite: infinitely small parts leave the sum 0, not no number.
  static constexpr float kLargest = 3.402823466e38F;

  vector::RowTile tile_at(std::uint32_t row, std::uint32_t rows) const {
    return {outer_ * work_.axis + row, rows, columns_, aicore::round_up(columns_, kBlock)};
  }
  // The set, whose tile is in fp32 at x().
  unsigned load(const vector::RowTile& tile) {
    const unsigned i = loads_++ % kSets;
    turns_[i].begin();
    vector::load_tile(port_, stored_[i], {work_.from, work_.inner, column_}, tile, kTypeA);
    turns_[i].loaded();
    if constexpr (!kAllFp32) {
      convert_rows(port_, x_, DataType::kFp32, stored_[i], kTypeA, 1, tile.count());
    }
    return i;
  }
  std::uint32_t x(unsigned i) const { return kAllFp32 ? stored_[i] : x_; }
  void store(unsigned i, const vector::RowTile& tile) {
    if constexpr (!kAllFp32) {
      convert_rows(port_, stored_[i], kTypeC, x_, DataType::kFp32, 1, tile.count());
    }
    turns_[i].computed();
    vector::store_tile(port_, {work_.to, work_.inner, column_}, tile, stored_[i], kTypeC);
    turns_[i].stored();
  }
  // Nothing of it is stored.
  void leave(unsigned i) {
    turns_[i].computed();
    turns_[i].stored();
  }

  void all_rows() {
    const vector::RowTile tile = tile_at(0, work_.axis);
    const unsigned i = load(tile);
    const vector::Flat all(port_, tile.count());
    fold(VectorOp::kMax, x(i), tile);
    repeat(folds_, tile);
    all.issue(VectorOp::kSub, x(i), x(i), folds_);
    all.issue(kExp, x(i), x(i));
    fold(VectorOp::kAdd, x(i), tile);
    repeat(folds_, tile);
    all.issue(VectorOp::kDiv, x(i), x(i), folds_);
    store(i, tile);
  }

  template <class Use>
  void for_parts(Use use) {
    for (std::uint32_t row = 0; row < work_.axis; row += work_.rows) {
      const vector::RowTile tile = tile_at(row, std::min(work_.rows, work_.axis - row));
      use(load(tile), tile, row == 0);
    }
  }
  void parts() {
    const vector::RowTile longest = tile_at(0, work_.rows);
    for_parts([&](unsigned i, const vector::RowTile& tile, bool first) {
      fold(VectorOp::kMax, x(i), tile);
      collect(VectorOp::kMax, largest_, tile, first);
      leave(i);
    });
    vector::Flat(port_, longest.pitch).scalar(VectorOp::kMaxs, largest_, largest_, -kLargest);
    repeat(largest_, longest);
    for_parts([&](unsigned i, const vector::RowTile& tile, bool first) {
      exponentials(i, tile);
      fold(VectorOp::kAdd, x(i), tile);
      collect(VectorOp::kAdd, sums_, tile, first);
      leave(i);
    });
    repeat(sums_, longest);
    for_parts([&](unsigned i, const vector::RowTile& tile, bool) {
      exponentials(i, tile);
      vector::Flat(port_, tile.count()).issue(VectorOp::kDiv, x(i), x(i), sums_);
      store(i, tile);
    });
  }
  void exponentials(unsigned i, const vector::RowTile& tile) const {
    const vector::Flat all(port_, tile.count());
    all.issue(VectorOp::kSub, x(i), x(i), largest_);
    all.issue(kExp, x(i), x(i));
  }
  // The first row of what was folded to that of `to`.
  void collect(VectorOp op, std::uint32_t to, const vector::RowTile& tile, bool first) const {
    const vector::Flat row(port_, tile.pitch);
    first ? row.issue(VectorOp::kCopy, to, folds_) : row.issue(op, to, to, folds_);
  }

  // All rows into the first one of folds_.
  void fold(VectorOp op, std::uint32_t from, const vector::RowTile& tile) const {
    const std::uint32_t bytes = tile.pitch * kFp32;
    std::uint32_t rows = tile.rows;
    if (rows == 1) return vector::Flat(port_, tile.pitch).issue(VectorOp::kCopy, folds_, from);
    while (rows > 1) {
      const std::uint32_t kept = (rows + 1) / 2, folded = rows - kept;
      vector::Flat(port_, folded * tile.pitch).issue(op, folds_, from, from + kept * bytes);
      if (kept != folded && from != folds_) {
        vector::Flat(port_, tile.pitch)
            .issue(VectorOp::kCopy, folds_ + folded * bytes, from + folded * bytes);
      }
      from = folds_;
      rows = kept;
    }
  }
  // The first row to all of the tile's.
  void repeat(std::uint32_t at, const vector::RowTile& tile) const {
    for (std::uint32_t rows = 1; rows < tile.rows;) {
      const std::uint32_t more = std::min(rows, tile.rows - rows);
      vector::Flat(port_, more * tile.pitch)
          .issue(VectorOp::kCopy, at + rows * tile.pitch * kFp32, at);
      rows += more;
    }
  }

  AicorePort& port_;
  const Work work_;
  Turns turns_[kSets] = {Turns(port_, 0), Turns(port_, 1)};
  unsigned loads_ = 0;
  std::uint32_t stored_[kSets] = {};
  std::uint32_t x_ = 0, folds_ = 0, largest_ = 0, sums_ = 0;
  std::uint64_t outer_ = 0, column_ = 0;
  std::uint32_t columns_ = 0;
};

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  if (port.has_vector_functions()) {
    vector::SoftmaxAxisFunctions(port, work_from<vector::AxisWork>(arguments)).run();
  } else {
    Columns(port, work_from<Work>(arguments)).run();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// As many columns as fit, and no more than keep all cores busy.
void tile(Work& work, std::uint64_t ub, std::uint32_t cores) {
  const std::uint64_t line = 512 / kStored;  // elements
  const std::uint64_t fit = ub / kWholeBytes / work.axis / kBlock * kBlock;
  const std::uint64_t most = fit != 0 ? fit : line;
  const std::uint64_t strips = aicore::divide_up<std::uint64_t>(cores, work.outer);
  const std::uint64_t shared =
      aicore::round_up(aicore::divide_up(work.inner, strips), std::uint64_t{kBlock});
  work.columns = static_cast<std::uint32_t>(std::min(most, std::max(shared, line)));
  if (work.columns > most) work.columns = static_cast<std::uint32_t>(most);
  work.passes = fit != 0 ? 1 : 3;
  work.rows = fit != 0 ? work.axis
                       : static_cast<std::uint32_t>(
                             std::min<std::uint64_t>(work.axis, ub / kPartBytes / work.columns));
}

void host(std::uint32_t block_num, OperatorStream& stream, const SoftmaxAxisParams& params) {
  if (params.outer == 0 || params.axis == 0 || params.inner == 0) return;
  if (params.outer > kMostSide || params.axis > kMostSide || params.inner > kMostSide ||
      std::uint64_t{params.outer} * params.axis > aicore::kMostElements / params.inner) {
    return stream.refuse("sides must be below 2^31, elements below 2^44");
  }
  if (!aligned(params.from, kTypeA) || !aligned(params.to, kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 16 * 1024) return stream.refuse("UB is smaller than 16 KiB");
  Work work;
  work.from = params.from, work.to = params.to;
  work.outer = params.outer, work.axis = params.axis, work.inner = params.inner;
  Launches launches(stream, CoreKind::kVector, block_num);
  const CoreLimits limits = stream.limits();
  const std::uint32_t cores = launches.cores(CoreKind::kVector);
  std::uint64_t pieces = 0;
  if (limits.vector_functions) {
    pieces = vector::SoftmaxAxisFunctions::choose(work, limits.ub, cores);
  } else {
    tile(work, limits.ub, cores);
    pieces = work.tiles();
  }
  launches.launch(CoreKind::kVector, 0U, work, pieces);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::SoftmaxAxisParams)
