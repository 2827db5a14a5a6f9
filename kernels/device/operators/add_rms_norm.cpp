// SPDX-License-Identifier: Apache-2.0
// x1 + x2, and each row of it divided by the root of the mean of its squares. NPU_JIT_ELEMENT_A
// (x1, x2, gamma, sum): half, bfloat16 or float; NPU_JIT_ELEMENT_C (to): the same, or int8 with a
// scale for each row; AddRmsNormParams. As the library of operators does it
// (docs/sources/operators.md B5): quantised rows have one buffer for what is loaded, which the
// vector unit then works in, one for what is stored. Others are AddNormRows' where the vector unit
// works on UB. Rows that do not fit are read in parts, two times, quantised ones three times.
#include <cmath>
#include <optional>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/add_norm_rows.hpp"
#include "kernels/device/vector/quantise.hpp"
#include "kernels/device/vector/row_reduction.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::kTypeC;
using vector::NormTiles;
using vector::size_of;

constexpr bool kQuantised = kTypeC == DataType::kInt8;
static_assert(is_real(kTypeA) && (is_real(kTypeC) || kQuantised),
              "sums are of half, bfloat16 or float (NPU_JIT_ELEMENT_A), their normalised rows of "
              "these or int8 (NPU_JIT_ELEMENT_C)");

struct Work {
  AddRmsNormParams params;
  std::uint32_t piece = 0;  // rows of a tile; of parts: elements
  NormTiles tiles = NormTiles::kParts;

  bool in_parts() const { return tiles == NormTiles::kParts; }
};

constexpr std::uint32_t kOfInput = size_of(kTypeA), kOfFp32 = size_of(DataType::kFp32);
// Of a row's element: x1 and x2, two results or sums, the sum and what is made of it.
constexpr std::uint32_t kOfResult = std::max(kOfInput, size_of(kTypeC));
constexpr std::uint32_t kBytes = 2 * kOfInput + 2 * kOfResult + 2 * kOfFp32;
constexpr std::uint32_t kGammas = 3 * kOfInput;  // kept for weights, of which gamma is one
constexpr std::uint32_t kKept = 768;

constexpr std::uint32_t padded(std::uint32_t columns) {
  return aicore::round_up(columns, aicore::kLocalAlignment);  // whole blocks of int8
}

class Rows {
 public:
  Rows(AicorePort& port, const Work& work)
      : port_(port), work_(work), p_(work.params), stages_(port) {
    const std::uint32_t row = padded(work.in_parts() ? work.piece : p_.columns);
    const std::uint32_t rows = work.in_parts() ? 1 : work.piece;
    aicore::UbParts ub;
    in_ = ub.take(2 * rows * row * kOfInput);
    out_ = ub.take(2 * rows * row * kOfResult);
    x_ = ub.take(rows * row * kOfFp32);
    y_ = ub.take(rows * row * kOfFp32);
    gamma_ = ub.take(row * kOfInput);
    for (auto& number : numbers_) number = ub.take(kOfFp32);
    scales_.emplace(port, ub.take(rows * kOfFp32));
  }

  void load_gamma() const {
    if (p_.gamma == 0 || work_.in_parts()) return;
    vector::load_tile(port_, gamma_, {p_.gamma, p_.columns}, {0, 1, p_.columns, p_.columns},
                      kTypeA);
  }

  void tile(std::uint32_t first, std::uint32_t rows) {
    const vector::RowTile tile{first, rows, p_.columns, padded(p_.columns)};
    const vector::Flat all(port_, tile.count()), row(port_, p_.columns);
    const unsigned i = add(tile, 0);
    store_sum(tile, 0);
    all.issue(VectorOp::kMul, y_, x_, x_);
    for (std::uint32_t r = 0; r < rows; ++r) {
      normalise(row, x_ + at(r), root_of(sum_of(y_ + at(r), p_.columns)));
    }
    if (p_.gamma != 0) {
      row.cast(y_, DataType::kFp32, gamma_, kTypeA);
      for (std::uint32_t r = 0; r < rows; ++r)
        row.issue(VectorOp::kMul, x_ + at(r), x_ + at(r), y_);
    }
    if constexpr (kQuantised) {
      quantise(i, tile, all, row);
    } else {
      stages_.consumed(i);
      store(tile, 0, all);
    }
  }

  void parts(std::uint32_t row) {
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      const unsigned i = add(tile, column);
      stages_.consumed(i);
      store_sum(tile, column);
      const vector::Flat all(port_, tile.columns);
      all.issue(VectorOp::kMul, y_, x_, x_);
      combine(VectorOp::kAdd, DataType::kFp32, column == 0, sum_of(y_, tile.columns));
    });
    const float root = root_of(numbers_[1]);
    float factor = 1;
    if constexpr (kQuantised) {
      for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
        stages_.consumed(part(tile, column, root));
        vector::Flat(port_, tile.columns).issue(VectorOp::kAbs, y_, x_);
        vector::largest_sizes(port_, numbers_[0], y_, tile);
        combine(VectorOp::kMax, DataType::kInt32, column == 0, numbers_[0]);
      });
      scales_->begin();
      factor = scales_->keep(0, vector::ScalarTrip(port_).read(numbers_[1]));
      vector::ScalarTrip(port_).end();
    }
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      const vector::Flat all(port_, tile.columns);
      stages_.consumed(part(tile, column, root));
      if constexpr (kQuantised) {
        all.scalar(VectorOp::kMuls, x_, x_, factor);
        vector::narrow(all, x_);
      }
      store(tile, column, all);
    });
    if constexpr (kQuantised) scales_->store(p_.scales, row, 1);
  }

 private:
  static std::uint32_t at(std::uint32_t row, std::uint32_t columns) {
    return row * padded(columns) * kOfFp32;
  }
  std::uint32_t at(std::uint32_t row) const { return at(row, p_.columns); }
  template <class Run>
  void for_parts(std::uint32_t row, Run run) const {
    for (std::uint64_t first = 0; first < p_.columns; first += work_.piece) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.piece, p_.columns - first));
      run(vector::RowTile{row, 1, count, padded(count)}, first);
    }
  }

  // x = x1 + x2. What is loaded is the vector unit's until it is said to be consumed.
  unsigned add(const vector::RowTile& tile, std::uint64_t column) {
    const vector::Flat all(port_, tile.count());
    const std::uint32_t second = in_ + tile.count() * kOfInput;
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_, {p_.x1, p_.columns, column}, tile, kTypeA);
    vector::load_tile(port_, second, {p_.x2, p_.columns, column}, tile, kTypeA);
    if (work_.in_parts() && p_.gamma != 0) {
      vector::load_tile(port_, gamma_, {p_.gamma, p_.columns, column},
                        {0, 1, tile.columns, tile.pitch}, kTypeA);
    }
    stages_.loaded(i);
    if constexpr (kTypeA == DataType::kFp32) {
      all.issue(VectorOp::kAdd, x_, in_, second);
    } else {
      all.cast(x_, DataType::kFp32, in_, kTypeA);
      all.cast(y_, DataType::kFp32, second, kTypeA);
      all.issue(VectorOp::kAdd, x_, x_, y_);
    }
    return i;
  }
  void store_sum(const vector::RowTile& tile, std::uint64_t column) {
    const unsigned result = stages_.begin_result();
    vector::Flat(port_, tile.count()).cast(out_, kTypeA, x_, DataType::kFp32);
    stages_.computed(result);
    vector::store_tile(port_, {p_.sum, p_.columns, column}, tile, out_, kTypeA);
    stages_.stored(result);
  }
  // In place; of a tile's rows in the first one's place, which is done with.
  std::uint32_t sum_of(std::uint32_t squares, std::uint32_t columns) {
    if (!sum_ || summed_ != columns) {
      sum_.emplace(vector::kSum, vector::RowTile{0, 1, columns, padded(columns)}, y_, numbers_[0]);
      summed_ = columns;
    }
    sum_->issue(port_, squares);
    return numbers_[0];
  }
  // What has come of the parts so far, with another part's number.
  void combine(VectorOp op, DataType type, bool first, std::uint32_t number) const {
    Vector v = row_vector(first ? VectorOp::kCopy : op, type, numbers_[1],
                          first ? number : numbers_[1], 1, 1);
    v.b = number;
    port_.issue(v);
  }
  // The scalar unit's part of a row.
  float root_of(std::uint32_t sum) const {
    const vector::ScalarTrip trip(port_);
    const float mean = trip.read(sum) * (1 / static_cast<float>(p_.columns));
    const float root = 1 / std::sqrt(mean + p_.epsilon);
    trip.end();
    return root;
  }
  static void normalise(const vector::Flat& row, std::uint32_t x, float root) {
    row.scalar(VectorOp::kMuls, x, x, root);
  }
  // x = a part's normalised elements, from x1 and x2 again.
  unsigned part(const vector::RowTile& tile, std::uint64_t column, float root) {
    const vector::Flat all(port_, tile.columns);
    const unsigned i = add(tile, column);
    normalise(all, x_, root);
    if (p_.gamma == 0) return i;
    all.cast(y_, DataType::kFp32, gamma_, kTypeA);
    all.issue(VectorOp::kMul, x_, x_, y_);
    return i;
  }
  void quantise(unsigned i, const vector::RowTile& tile, const vector::Flat& all,
                const vector::Flat& row) {
    // Where a smooth scale would be multiplied the library multiplies by 1.
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      row.scalar(VectorOp::kMuls, y_ + at(r), x_ + at(r), 1);
    }
    all.issue(VectorOp::kAbs, x_, y_);
    scales_->begin();
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      vector::largest_sizes(port_, numbers_[0], x_ + at(r), {0, 1, tile.columns, tile.pitch});
      const vector::ScalarTrip trip(port_);
      const float factor = scales_->keep(r, trip.read(numbers_[0]));
      trip.end();
      row.scalar(VectorOp::kMuls, y_ + at(r), y_ + at(r), factor);
    }
    vector::narrow(all, y_);
    const unsigned result = stages_.begin_result();
    vector::to_int8(all, out_, y_);
    stages_.consumed(i);
    stages_.computed(result);
    vector::store_tile(port_, {p_.to, p_.columns}, tile, out_, kTypeC);
    scales_->store(p_.scales, tile.first, tile.rows);
    stages_.stored(result);
  }
  // From x; of int8 what is narrowed already.
  void store(const vector::RowTile& tile, std::uint64_t column, const vector::Flat& all) {
    const unsigned result = stages_.begin_result();
    if constexpr (kQuantised) {
      vector::to_int8(all, out_, x_);
    } else {
      all.cast(out_, kTypeC, x_, DataType::kFp32);
    }
    stages_.computed(result);
    vector::store_tile(port_, {p_.to, p_.columns, column}, tile, out_, kTypeC);
    stages_.stored(result);
  }

  AicorePort& port_;
  const Work work_;
  const AddRmsNormParams& p_;
  StagesOf<1, 1> stages_;
  std::optional<vector::ScaleColumn> scales_;
  std::optional<vector::RowReduction> sum_;
  std::uint32_t summed_ = 0;  // columns
  std::uint32_t in_ = 0, out_ = 0, x_ = 0, y_ = 0, gamma_ = 0;
  std::uint32_t numbers_[2] = {};  // of a row or part; of the parts so far
};

template <bool kSeveral>
void run_rows(AicorePort& port, const Work& work) {
  vector::AddNormRows<kSeveral> rows(port, work.params, {work.tiles, work.piece});
  aicore::for_rows(port.call(), work.params.rows, work.piece,
                   [&](std::uint32_t first, std::uint32_t count) { rows.tile(first, count); });
}

void run_own(AicorePort& port, const Work& work) {
  Rows rows(port, work);
  rows.load_gamma();
  aicore::for_rows(port.call(), work.params.rows, work.in_parts() ? 1 : work.piece,
                   [&](std::uint32_t first, std::uint32_t count) {
                     work.in_parts() ? rows.parts(first) : rows.tile(first, count);
                   });
}

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  switch (work.tiles) {
    case NormTiles::kRow:
    case NormTiles::kOnly:
      run_rows<false>(port, work);
      break;
    case NormTiles::kFew:
    case NormTiles::kMany:
      run_rows<true>(port, work);
      break;
    default:
      run_own(port, work);
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// `share`: rows of a core.
void choose(Work& work, const CoreLimits& limits, std::uint32_t share) {
  constexpr std::uint64_t kMostRows = 16;
  const std::uint64_t ub = limits.ub;
  if (!kQuantised && !limits.vector_functions) {
    const auto tile = vector::AddNormRows<true>::choose(work.params.columns, share, ub);
    work.tiles = tile.kind, work.piece = tile.rows;
    if (!work.in_parts()) return;
  }
  const std::uint64_t row = padded(work.params.columns);
  const std::uint64_t weights = row * kGammas + kKept;
  const std::uint64_t each = kBytes * row + 2 * kOfFp32;
  const bool whole = weights + each <= ub;
  work.tiles = whole ? NormTiles::kWhole : NormTiles::kParts;
  work.piece =
      static_cast<std::uint32_t>(whole ? std::min((ub - weights) / each, kMostRows)
                                       : (ub - kKept) / (kBytes + kGammas) /
                                             aicore::kLocalAlignment * aicore::kLocalAlignment);
}

void host(std::uint32_t block_num, OperatorStream& stream, const AddRmsNormParams& params) {
  if (params.rows == 0) return;
  if (params.columns == 0) {
    return kQuantised ? stream.refuse("a row without elements has no scale") : void();
  }
  if (params.rows > kMostSide || params.columns > kMostSide) {
    return stream.refuse("rows and columns must be below 2^31");
  }
  bool good = aligned(params.to, kTypeC) && aligned(params.scales, DataType::kFp32);
  for (const auto address : {params.x1, params.x2, params.gamma, params.sum}) {
    good = good && aligned(address, kTypeA);
  }
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Work work;
  work.params = params;
  // Whole shares: the last core may have fewer rows.
  Launches launches(stream, CoreKind::kVector, block_num);
  const std::uint32_t cores = launches.cores(CoreKind::kVector);
  const std::uint32_t share = aicore::divide_up(params.rows, cores);
  choose(work, stream.limits(), share);
  launches.launch(CoreKind::kVector, 0U, work, aicore::divide_up(params.rows, share));
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::AddRmsNormParams)
