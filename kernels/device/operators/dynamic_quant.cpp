// SPDX-License-Identifier: Apache-2.0
// Rows as int8 with a scale each. NPU_JIT_ELEMENT_A (from): half, bfloat16 or float;
// NPU_JIT_ELEMENT_C: int8; DynamicQuantParams. As the library of operators does it
// (docs/sources/operators.md B5): several aligned rows at a time by vector instructions alone,
// other rows one after the other with their scale by the scalar unit, rows that do not fit in
// parts, twice. Cores that compute in registers take as many rows as fit.
#include <optional>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/quantise_functions.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

static_assert(is_real(kTypeA) && vector::kTypeC == DataType::kInt8,
              "rows are quantised from half, bfloat16 or float (NPU_JIT_ELEMENT_A) into int8 "
              "(NPU_JIT_ELEMENT_C)");

// Rows with one or two buffers for what is loaded.
enum class Manner : std::uint32_t { kTiles, kRowsOnce, kRowsTwice, kParts, kFunctions };

struct Work {
  std::uint64_t from = 0, to = 0, scales = 0;
  std::uint32_t rows = 0, columns = 0;
  Manner manner = Manner::kTiles;
  std::uint32_t piece = 0;  // rows of a tile; of kParts: columns
};

constexpr std::uint32_t kOfInput = size_of(kTypeA), kOfFp32 = size_of(DataType::kFp32);
// A loaded element, its value, its size without sign, its result.
constexpr std::uint32_t kBytes = kOfInput + 2 * kOfFp32 + 1;

// Rows of a multiple of 8 elements lie in UB as in global memory.
class Tiled {
 public:
  Tiled(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port) {
    const std::uint32_t count = work.piece * work.columns;
    aicore::UbParts ub;
    in_ = ub.take(count * kOfInput);
    x_ = ub.take(count * kOfFp32);
    y_ = ub.take(count * kOfFp32);
    out_ = ub.take(count);
    for (auto* numbers : {&largest_, &factors_, &scales_, &constant_}) {
      *numbers = ub.take(work.piece * kOfFp32);
    }
    vector::Flat(port, work.piece).scalar(VectorOp::kDuplicate, constant_, 0, vector::kMostInt8);
  }

  void one(std::uint32_t first, std::uint32_t rows) {
    const vector::RowTile tile{first, rows, work_.columns, work_.columns};
    const vector::Flat all(port_, tile.count()), numbers(port_, rows);
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_, {work_.from, work_.columns}, tile, kTypeA);
    stages_.loaded(i);
    all.cast(x_, DataType::kFp32, in_, kTypeA);
    stages_.consumed(i);
    vector::quantise_tile(port_, {x_, y_, largest_, factors_, constant_}, tile);
    const unsigned result = stages_.begin_result();
    numbers.scalar(VectorOp::kMuls, scales_, largest_, 1 / vector::kMostInt8);
    vector::to_int8(all, out_, y_);
    stages_.computed(result);
    vector::store_numbers(port_, work_.scales, first, scales_, rows);
    vector::store_tile(port_, {work_.to, work_.columns}, tile, out_, DataType::kInt8);
    stages_.stored(result);
  }

 private:
  AicorePort& port_;
  const Work work_;
  StagesOf<1, 1> stages_;
  std::uint32_t in_ = 0, x_ = 0, y_ = 0, out_ = 0;
  std::uint32_t largest_ = 0, factors_ = 0, scales_ = 0, constant_ = 0;
};

// The pitch of rows in UB: whole repeats, so that an operation on a row has no unaligned tail.
constexpr std::uint32_t padded(std::uint32_t columns) {
  return aicore::round_up(columns, vector::kRepeat);
}

template <unsigned kBuffers>
class RowByRow {
 public:
  RowByRow(AicorePort& port, const Work& work)
      : port_(port),
        work_(work),
        stages_(port),
        row_(work.manner == Manner::kParts ? work.piece : work.columns),
        rows_(work.manner == Manner::kParts ? 1 : work.piece) {
    aicore::UbParts ub;
    x_ = ub.take(padded(row_) * kOfFp32);
    y_ = ub.take(padded(row_) * kOfFp32);
    largest_ = ub.take(kOfFp32);
    part_ = ub.take(kOfFp32);
    scale_column_ = ub.take(rows_ * kOfFp32);
    out_ = ub.take(rows_ * padded(row_));
    const std::uint32_t loaded = rows_ * padded(row_) * kOfInput;
    for (auto& in : in_) in = ub.take(loaded);
    scales_.emplace(port, scale_column_);
  }

  // While the scalar unit has to do with the rows of one tile, the next one is loaded.
  void load(std::uint32_t first, std::uint32_t count) {
    const Loaded next{stages_.begin_load(), first, count};
    vector::load_tile(port_, in_[next.set], {work_.from, work_.columns},
                      {first, count, work_.columns, padded(row_)}, kTypeA);
    stages_.filled(next.set);
    last();
    waiting_ = next;
  }
  void last() {
    if (waiting_) rows(*waiting_);
    waiting_.reset();
  }
  void parts(std::uint32_t row) {
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      const unsigned i = load_part(tile, column);
      size_of_row(in_[i], tile.columns, column == 0 ? largest_ : part_);
      stages_.consumed(i);
      if (column == 0) return;
      Vector v = row_vector(VectorOp::kMax, DataType::kInt32, largest_, largest_, 1, 1);
      v.b = part_;
      port_.issue(v);
    });
    scales_->begin();
    const float factor = scales_->keep(0, vector::ScalarTrip(port_).read(largest_));
    vector::ScalarTrip(port_).end();
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      const vector::Flat all(port_, tile.columns);
      const unsigned i = load_part(tile, column);
      all.cast(x_, DataType::kFp32, in_[i], kTypeA);
      stages_.consumed(i);
      all.scalar(VectorOp::kMuls, x_, x_, factor);
      vector::narrow(all, x_);
      const unsigned result = stages_.begin_result();
      vector::to_int8(all, out_, x_);
      stages_.computed(result);
      vector::store_tile(port_, {work_.to, work_.columns, column}, tile, out_, DataType::kInt8);
      stages_.stored(result);
    });
    scales_->store(work_.scales, row, 1);
  }

 private:
  struct Loaded {
    unsigned set = 0;
    std::uint32_t first = 0, count = 0;  // rows
  };
  void rows(const Loaded& tile) {
    stages_.take(tile.set);
    scales_->begin();
    unsigned result = 0;
    for (std::uint32_t row = 0; row < tile.count; ++row) {
      size_of_row(in_[tile.set] + row * padded(row_) * kOfInput, work_.columns, largest_);
      multiply(row);
      if (row == 0) result = stages_.begin_result();
      vector::to_int8(vector::Flat(port_, padded(row_)), out_ + row * padded(row_), x_);
    }
    stages_.consumed(tile.set);
    stages_.computed(result);
    scales_->store(work_.scales, tile.first, tile.count);
    vector::store_tile(port_, {work_.to, work_.columns},
                       {tile.first, tile.count, work_.columns, padded(row_)}, out_,
                       DataType::kInt8);
    stages_.stored(result);
  }
  template <class Run>
  void for_parts(std::uint32_t row, Run run) const {
    for (std::uint64_t at = 0; at < work_.columns; at += row_) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(row_, work_.columns - at));
      run(vector::RowTile{row, 1, count, count}, at);
    }
  }
  unsigned load_part(const vector::RowTile& tile, std::uint64_t column) {
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], {work_.from, work_.columns, column}, tile, kTypeA);
    stages_.loaded(i);
    return i;
  }
  // x = the row's values; the largest of their sizes.
  void size_of_row(std::uint32_t in, std::uint32_t columns, std::uint32_t largest) const {
    const vector::Flat all(port_, padded(columns));
    all.cast(x_, DataType::kFp32, in, kTypeA);
    all.issue(VectorOp::kAbs, y_, x_);
    vector::largest_sizes(port_, largest, y_, {0, 1, columns, columns});
  }
  void multiply(std::uint32_t row) const {
    const vector::ScalarTrip trip(port_);
    const float factor = scales_->keep(row, trip.read(largest_));
    trip.end();
    const vector::Flat all(port_, padded(row_));
    all.scalar(VectorOp::kMuls, x_, x_, factor);
    vector::narrow(all, x_);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kBuffers, 1> stages_;
  const std::uint32_t row_, rows_;  // of a piece: elements of a row, rows
  std::optional<vector::ScaleColumn> scales_;
  std::optional<Loaded> waiting_;
  std::uint32_t in_[kBuffers] = {};
  std::uint32_t x_ = 0, y_ = 0, out_ = 0, largest_ = 0, part_ = 0, scale_column_ = 0;
};

// In vector functions, double buffered.
class InRegisters {
 public:
  // Bytes of UB for a row, beside those kept for the parts' alignment.
  static std::uint64_t row_bytes(std::uint32_t columns) {
    return kSets * (std::uint64_t{aicore::row_bytes(columns, kTypeA)} +
                    aicore::row_bytes(columns, DataType::kInt8) + kOfFp32) +
           vector::QuantiseFunctions::kRowBytes;
  }
  InRegisters(AicorePort& port, const Work& work)
      : port_(port), work_(work), stages_(port), quantise_(port, ub_, work.piece) {
    for (unsigned i = 0; i < kSets; ++i) {
      in_[i] = ub_.take(work.piece * aicore::row_bytes(work.columns, kTypeA));
      out_[i] = ub_.take(work.piece * aicore::row_bytes(work.columns, DataType::kInt8));
      scales_[i] = ub_.take(work.piece * kOfFp32);
    }
  }
  void rows(std::uint32_t first, std::uint32_t rows) {
    const AreaTile tile{first, 0, rows, work_.columns};
    const unsigned i = stages_.begin_load();
    load_rows(port_, in_[i], {work_.from, work_.columns}, tile, kTypeA);
    stages_.loaded(i);
    FunctionBuilder<4> function;
    function.load(0, in_[i], kTypeA, FunctionRows::kOwn, aicore::row_bytes(work_.columns, kTypeA));
    quantise_.find_largest(function, 2, function.cast(1, DataType::kFp32, 0, kTypeA));
    function.issue(port_, rows, work_.columns);
    const unsigned set = stages_.begin_result();
    quantise_.make_scales(scales_[set], rows);
    quantise_.quantise(out_[set], in_[i], kTypeA, rows, work_.columns);
    stages_.consumed(i);
    stages_.computed(set);
    vector::store_numbers(port_, work_.scales, first, scales_[set], rows);
    store_rows(port_, {work_.to, work_.columns}, tile, out_[set], DataType::kInt8);
    stages_.stored(set);
  }

 private:
  AicorePort& port_;
  const Work work_;
  Stages stages_;
  aicore::UbParts ub_;
  vector::QuantiseFunctions quantise_;
  std::uint32_t in_[kSets] = {}, out_[kSets] = {}, scales_[kSets] = {};
};

template <unsigned kBuffers>
void row_by_row(AicorePort& port, const Work& work) {
  RowByRow<kBuffers> rows(port, work);
  const bool whole = work.manner != Manner::kParts;
  aicore::for_rows(port.call(), work.rows, whole ? work.piece : 1,
                   [&](std::uint32_t first, std::uint32_t count) {
                     whole ? rows.load(first, count) : rows.parts(first);
                   });
  rows.last();
}

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  if (work.manner == Manner::kTiles) {
    Tiled tiled(port, work);
    aicore::for_rows(port.call(), work.rows, work.piece,
                     [&](std::uint32_t first, std::uint32_t count) { tiled.one(first, count); });
  } else if (work.manner == Manner::kFunctions) {
    InRegisters tiles(port, work);
    aicore::for_rows(port.call(), work.rows, work.piece,
                     [&](std::uint32_t first, std::uint32_t count) { tiles.rows(first, count); });
  } else {
    work.manner == Manner::kRowsOnce ? row_by_row<1>(port, work) : row_by_row<kSets>(port, work);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// How many blocks.
std::uint64_t choose(Work& work, std::uint64_t ub, std::uint32_t cores) {
  constexpr std::uint64_t kKept = 1024;  // of UB, as the library's tiling
  constexpr std::uint64_t kRepeat = vector::kRepeat;
  constexpr std::uint64_t kOfNumbers = 256 + kRepeat + 12 * kRepeat * kOfFp32;
  constexpr std::uint32_t kShortest = 128, kMostRepeats = 255;
  const std::uint64_t tiled = std::min<std::uint64_t>(
      (ub - std::min(ub, kKept + kOfNumbers)) / kBytes / kRepeat * kRepeat, kMostRepeats * kRepeat);
  if (work.columns >= kShortest && work.columns <= tiled && work.columns % 8 == 0) {
    work.manner = Manner::kTiles;
    work.piece = std::min(static_cast<std::uint32_t>(tiled / work.columns), work.rows);
    // Whole tiles first, then cores; the rows that are left over go to all of these.
    const std::uint32_t full = work.rows / work.piece;
    const std::uint32_t each = std::max(full / cores, 1U);
    return std::min(full / each, cores);
  }
  const std::uint64_t row = padded(work.columns);
  const std::uint64_t fit = (ub - kKept) / (kBytes * row);
  if (fit != 0) {
    // One row at a time has a second buffer where there is room.
    const std::uint64_t second = row * kOfInput;
    const bool twice = fit > 1 || kBytes * row + second <= ub - kKept;
    work.manner = twice ? Manner::kRowsTwice : Manner::kRowsOnce;
    const std::uint32_t share = aicore::divide_up(work.rows, std::min(work.rows, cores));
    work.piece = static_cast<std::uint32_t>(std::min<std::uint64_t>({fit, kMostRepeats, share}));
  } else {
    work.manner = Manner::kParts;
    constexpr std::uint64_t kPerPart = 2 * kOfFp32 + 2 * kOfInput + 1 + 6;
    work.piece = static_cast<std::uint32_t>((ub - kKept) / kPerPart / 128 * 128);
  }
  return work.rows;
}

// False: not one row fits.
bool choose_functions(Work& work, std::uint64_t ub) {
  constexpr std::uint64_t kGaps = 1024;
  work.manner = Manner::kFunctions;
  work.piece = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((ub - kGaps) / InRegisters::row_bytes(work.columns), work.rows));
  return work.columns < aicore::kLongestRow && work.piece != 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const DynamicQuantParams& params) {
  if (params.rows == 0) return;
  if (params.columns == 0) return stream.refuse("a row without elements has no scale");
  if (params.rows > kMostSide || params.columns > kMostSide) {
    return stream.refuse("rows and columns must be below 2^31");
  }
  if (!aligned(params.from, kTypeA) || !aligned(params.scales, DataType::kFp32)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Work work;
  work.from = params.from, work.to = params.to, work.scales = params.scales;
  work.rows = params.rows, work.columns = params.columns;
  Launches launches(stream, CoreKind::kVector, block_num);
  const CoreLimits limits = stream.limits();
  const std::uint32_t cores = launches.cores(CoreKind::kVector);
  const auto blocks = limits.vector_functions && choose_functions(work, limits.ub)
                          ? work.rows
                          : choose(work, limits.ub, cores);
  launches.launch(CoreKind::kVector, 0U, work, blocks);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::DynamicQuantParams)
