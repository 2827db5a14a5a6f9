// SPDX-License-Identifier: Apache-2.0
// Softmax of each row. NPU_JIT_ELEMENT_A (from) and NPU_JIT_ELEMENT_C (to): half, bfloat16 or
// float; SoftmaxParams. Rows that fit into UB are read once, longer ones twice; those of a few
// elements without gaps are transposed.
#include <optional>

#include "kernels/device/vector/narrow_softmax.hpp"
#include "kernels/device/vector/row_buffers.hpp"
#include "kernels/device/vector/row_reduction.hpp"
#include "kernels/device/vector/rows_work.hpp"
#include "kernels/device/vector/softmax_columns.hpp"
#include "kernels/device/vector/softmax_functions.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

constexpr std::uint32_t kOfInput = size_of(kTypeA), kOfResult = size_of(kTypeC);
constexpr std::uint32_t kOfFp32 = size_of(DataType::kFp32);
constexpr unsigned kInputSets = 2;
constexpr bool kConverted = kTypeA != DataType::kFp32, kNarrowed = kTypeC != DataType::kFp32;

// As the generated kernels of the library (docs/sources/kernel-times.md K36), with two changes that
// its rows show: no row waits for the scalar unit, and exponentials of every type are the precise
// ones. Two buffers for what is loaded: with one, as the page has it, cores that load at the same
// time wait for the HBM.
class SoftmaxRows {
 public:
  SoftmaxRows(AicorePort& port, const vector::RowsWork& work)
      : port_(port), work_(work), ub_(port), stages_(port), piece_(most_rows()) {
    if (piece_ == 0) return;
    const std::uint32_t elements = piece_ * padded();
    aicore::UbParts ub;
    for (auto& in : in_) in = ub.take(elements * kOfInput);
    out_ = ub.take(elements * kOfResult);
    if (kConverted) x_ = ub.take(elements * kOfFp32);
    const std::uint32_t scratch = ub.take(padded() * kOfFp32);
    number_ = ub.take(kOfFp32);
    const vector::RowTile one{0, 1, work_.columns, padded()};
    largest_of_.emplace(vector::kLargest, one, scratch, number_);
    sum_of_.emplace(vector::kSum, one, scratch, number_);
  }

  // Rows of a tile; 0: not even one fits.
  std::uint32_t piece() const { return piece_; }

  // Loaded before the tile before is computed.
  void whole(const AreaTile& at) {
    const vector::RowTile tile{at.row, at.rows, work_.columns, padded()};
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], {work_.from, work_.from_pitch}, tile, kTypeA);
    stages_.filled(i);
    end();
    ahead_ = tile;
    ahead_in_ = i;
  }
  void end() {
    if (ahead_.rows != 0) compute(ahead_, ahead_in_);
    ahead_.rows = 0;
  }

  // The largest and the sum so far are kept from part to part. The largest is finite: infinitely
  // small parts leave the sum 0, not no number.
  void parts(std::uint32_t row) {
    vector::for_parts(work_, row, ub_.space(), [&](const AreaTile& tile) {
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
    vector::for_parts(work_, row, ub_.space(), [&](const AreaTile& tile) {
      const unsigned i = stages_.begin_load();
      const std::uint32_t x = load(i, tile);
      row_op(port_, VectorOp::kBroadcastSub, ub_.work(), x, largest(), tile);
      stages_.consumed(i);
      element_op(port_, kExp, ub_.work(), ub_.work(), tile);
      divide_and_store(sum(), tile);
    });
  }

 private:
  // Rows begin at whole repeats, so that none has an unaligned tail.
  std::uint32_t padded() const { return aicore::round_up(work_.columns, vector::kRepeat); }
  std::uint32_t most_rows() const {
    const std::uint64_t ub = port_.buffer_size(LocalBuffer::kUb);
    const std::uint64_t each = kInputSets * kOfInput + kOfResult + (kConverted ? kOfFp32 : 0);
    const std::uint64_t kept = padded() * std::uint64_t{kOfFp32} + aicore::kLocalAlignment;
    return kept > ub ? 0 : static_cast<std::uint32_t>((ub - kept) / (padded() * each));
  }
  void compute(const vector::RowTile& tile, unsigned i) {
    const vector::Flat all(port_, tile.count());
    stages_.take(i);
    const std::uint32_t x = kConverted ? x_ : in_[i];
    if (kConverted) all.cast(x, DataType::kFp32, in_[i], kTypeA);
    unsigned result = 0;
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      const std::uint32_t at_row = r * tile.pitch * kOfFp32;
      weights(x + at_row);
      if (r == 0) result = stages_.begin_result();
      row_op(port_, VectorOp::kBroadcastDiv, (kNarrowed ? x : out_) + at_row, x + at_row, number_,
             {0, 0, 1, padded()});
    }
    if (kNarrowed) all.cast(out_, kTypeC, x, DataType::kFp32);
    stages_.consumed(i);
    stages_.computed(result);
    vector::store_tile(port_, {work_.to, work_.to_pitch}, tile, out_, kTypeC);
    stages_.stored(result);
  }

  // A row's exponentials in place, and their sum.
  void weights(std::uint32_t x) {
    largest_of_->issue(port_, x);
    row_op(port_, VectorOp::kBroadcastSub, x, x, number_, {0, 0, 1, padded()});
    vector::Flat(port_, padded()).issue(kExp, x, x);
    sum_of_->issue(port_, x);
  }
  static constexpr float kLargest = 3.402823466e38F;
  static constexpr VectorOp kExp = VectorOp::kExpPrecise;
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
  const vector::RowBuffers ub_;  // of a row that does not fit
  StagesOf<kInputSets, 1> stages_;
  const std::uint32_t piece_;
  vector::RowTile ahead_;  // is loaded
  unsigned ahead_in_ = 0;
  std::uint32_t in_[kInputSets] = {}, out_ = 0, x_ = 0, number_ = 0;
  std::optional<vector::RowReduction> largest_of_, sum_of_;
};

// Of the generated kernels of the A2's library, which have their sizes as arguments.
template <class Work>
struct Generated : Work {
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
};

enum class Phase : std::uint32_t { kRows, kNarrow };  // run_rows() launches the first one
using Narrow = vector::NarrowSoftmax<kTypeA, kTypeC>;
static_assert(sizeof(vector::NarrowWork) <= sizeof(vector::RowsWork));

// Of rows of a few elements without gaps; false: they are not.
bool run_narrow(std::uint32_t block_num, OperatorStream& stream, vector::RowsWork work) {
  if (work.columns > vector::kNarrow || work.columns == 0 || work.rows == 0) return false;
  if (vector::check(work) != nullptr) return false;
  if (work.from_pitch != work.columns || work.to_pitch != work.columns) return false;
  Launches launches(stream, CoreKind::kVector, block_num);
  vector::NarrowWork narrow =
      Narrow::plan(work.rows, work.columns, stream.limits().ub, launches.cores(CoreKind::kVector));
  if (narrow.length == 0) return false;
  narrow.from = work.from, narrow.to = work.to;
  vector::RowsWork words;  // of which every launch has as many
  std::memcpy(static_cast<void*>(&words), &narrow, sizeof narrow);
  launches.launch(CoreKind::kVector, Phase::kNarrow, words,
                  aicore::divide_up(narrow.elements, narrow.tile()));
  return true;
}

void host(std::uint32_t block_num, OperatorStream& stream, const SoftmaxParams& params) {
  vector::RowsWork work;
  work.from = params.from, work.to = params.to;
  work.from_pitch = params.from_pitch, work.to_pitch = params.to_pitch;
  work.rows = params.rows, work.columns = params.columns;
  if (!run_narrow(block_num, stream, work)) vector::run_rows(block_num, stream, work);
}

int rows(AicorePort& port, const vector::RowsWork& work) {
  return vector::rows_kernel<SoftmaxRows, vector::SoftmaxColumns, vector::SoftmaxFunctions>(port,
                                                                                            work);
}

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<vector::RowsWork>);
  const bool in_registers = port.has_vector_functions();
  if (static_cast<Phase>(arguments.word(0)) == Phase::kRows) {
    if (in_registers) return rows(port, work_from<vector::RowsWork>(arguments));
    return rows(port, work_from<Generated<vector::RowsWork>>(arguments));
  }
  const auto narrow = work_from<Generated<vector::NarrowWork>>(arguments);
  if (in_registers) {  // whose load transposes
    vector::RowsWork work;
    work.from = narrow.from, work.to = narrow.to;
    work.from_pitch = work.to_pitch = work.columns = narrow.columns;
    work.rows = static_cast<std::uint32_t>(narrow.elements / narrow.columns);
    return rows(port, work);
  }
  Narrow(port, narrow).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::vector::RowsWork, npu::kernels::host,
             npu::operators::SoftmaxParams)
