// SPDX-License-Identifier: Apache-2.0
// The largest elements of each row and where they are, in order, of equal ones the first one first;
// with NPU_JIT_SMALLEST 1 the smallest ones. With NPU_JIT_VALUES 0 only where the first of them is
// (kept in int32), with 1 values and places. NPU_JIT_ELEMENT_A: any type but int64; TensorParams.
// What is no number comes first, but last of the smallest with values, as libraries sort.
//
// Each element has a key and its place. The place of what is no number is moved out of the others'
// range, so that it goes before or behind an infinity. One after the other is found, and leaves:
// its key is then the last one there is, its place beyond all. Rows that are longer than UB come in
// tiles; what was found so far lies before the next one. Few long rows are cut in parts for all
// cores, and what those found is chosen from by a second launch. Places alone of long rows of
// reals are RowSegments' where the vector unit works on UB.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/row_segments.hpp"
#include "kernels/device/vector/row_unit.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

#ifndef NPU_JIT_SMALLEST
#define NPU_JIT_SMALLEST 2
#endif
#ifndef NPU_JIT_VALUES
#define NPU_JIT_VALUES 2
#endif

namespace npu::kernels {
namespace {

using vector::Comparison;
using vector::kComputed;
using vector::kTypeA;
using vector::kTypeC;
using vector::RowTile;
using vector::RowUnit;
using vector::size_of;

static_assert(NPU_JIT_SMALLEST == 0 || NPU_JIT_SMALLEST == 1, "NPU_JIT_SMALLEST must be 0 or 1");
static_assert(NPU_JIT_VALUES == 0 || NPU_JIT_VALUES == 1, "NPU_JIT_VALUES must be 0 or 1");
static_assert(kTypeA != DataType::kInt64,
              "the vector unit does not compare int64: "
              "NPU_JIT_ELEMENT_A must be half, bfloat16, float, int8 "
              "or int32");

constexpr bool kSmallest = NPU_JIT_SMALLEST == 1, kValues = NPU_JIT_VALUES == 1;
static_assert(kTypeC == (kValues ? kTypeA : DataType::kInt32),
              "NPU_JIT_ELEMENT_C must be that of the values, or int32 of places alone");
constexpr bool kReal = is_real(kTypeA);
constexpr VectorOp kFirst = kSmallest ? VectorOp::kReduceMin : VectorOp::kReduceMax;
constexpr float kInfinity = __builtin_inff();
constexpr float kLastKey = kSmallest ? kInfinity : -kInfinity;
constexpr float kBeyond = 1U << 30;               // all places
constexpr std::uint32_t kMostColumns = 1U << 29;  // behind them, those of what is no number
constexpr float kFirstNan = kSmallest && kValues ? 1 : -1;
constexpr std::uint32_t kMostK = 1024, kMostTileRows = 512, kInt = 4;
constexpr std::uint64_t kLeastPart = 2048;  // of a row, for a core
// Elements that are looked at: below it a second launch takes longer than what it saves.
constexpr std::uint64_t kLeastWork = 32'768;

struct Work {
  std::uint64_t from = 0, from_places = 0;  // places: of what parts found
  std::uint64_t values = 0, places = 0;
  std::uint32_t rows = 0, columns = 0;
  std::uint32_t part = 0, parts = 1;  // of a row
  std::uint32_t k = 1;
  std::uint32_t partial = 0;  // 1: results are for the second launch
  std::uint32_t share = 0;    // rows of a core that goes through them in segments
  std::uint32_t reserved = 0;

  bool merges() const { return from_places != 0; }
  DataType type() const { return merges() ? kComputed : kTypeA; }
};

class Rows {
 public:
  Rows(AicorePort& port, const Work& work) : port_(port), work_(work), stages_(port), unit_(port) {
    choose();
    allocate();
    make_places();
  }

  void run() {
    aicore::for_rows(port_.call(), work_.rows * work_.parts, most_rows_,
                     [&](std::uint32_t first, std::uint32_t rows) { tile(first, rows); });
  }

 private:
  static constexpr std::uint32_t kFixedBytes = 2048;

  // Bytes of UB for an element and for a row beside its elements.
  std::uint32_t element_bytes() const {
    const std::uint32_t loaded = work_.merges() ? 2 * kInt : size_of(kTypeA);
    const std::uint32_t own = 2 * kInt + kSets * loaded;
    return unit_.in_registers() ? own : own + 2 * kInt + 1;
  }
  std::uint32_t row_bytes() const { return 6 * kInt * aicore::round_up(work_.k, 8U); }
  // Numbers of rows come in whole blocks.
  std::uint32_t rest_bytes() const { return 21 * kInt * aicore::round_up(work_.k, 8U); }

  // As many columns as a row of UB has, as many rows as there are for them.
  void choose() {
    const auto ub = static_cast<std::uint32_t>(port_.buffer_size(LocalBuffer::kUb)) - kFixedBytes -
                    rest_bytes();
    const std::uint32_t shared = unit_.in_registers() ? kInt : 0;  // bytes of an element
    const std::uint32_t most = (ub - row_bytes()) / (element_bytes() + shared) / 64 * 64;
    kept_ = work_.part > most ? aicore::round_up(work_.k, 8U) : 0;
    columns_ = std::min(work_.part, (most - kept_) / 64 * 64);
    pitch_ = kept_ + aicore::round_up(columns_, 32U);
    const std::uint32_t row = pitch_ * element_bytes() + row_bytes();
    const std::uint32_t fit = (ub - shared * pitch_) / row;
    const std::uint32_t share = aicore::divide_up(work_.rows, port_.call().blocks);
    most_rows_ = work_.parts != 1 ? 1 : std::clamp(fit, 1U, std::min(share, kMostTileRows));
  }
  void allocate() {
    const std::uint32_t count = most_rows_ * pitch_;
    numbers_ = aicore::round_up(most_rows_, 8U);
    aicore::UbParts ub;
    if (!unit_.in_registers()) unit_.mask_at(ub.take(count / 8 + 1));
    for (std::uint32_t& at : in_) at = ub.take(most_rows_ * loaded_pitch());
    for (std::uint32_t& at : in_places_) at = work_.merges() ? ub.take(count * kInt) : 0;
    for (auto* at : {&keys_, &places_}) *at = ub.take(count * kInt);
    if (!unit_.in_registers()) scratch_ = ub.take(count * kInt);
    counted_ = ub.take((unit_.in_registers() ? pitch_ : count) * kInt);
    for (auto* at : {&found_, &found_places_, &spare_}) *at = ub.take(work_.k * numbers_ * kInt);
    const std::uint32_t rows = most_rows_ * aicore::row_bytes(work_.k, DataType::kInt32);
    for (auto* at : {&out_, &out_places_, &turned_}) *at = ub.take(std::max(rows, numbers_ * kInt));
  }
  std::uint32_t loaded_pitch() const { return (pitch_ - kept_) * size_of(work_.type()); }

  // 0, 1, 2, ...: of instructions for each row.
  void make_places() {
    constexpr std::uint32_t kBegin = 8;
    for (std::uint32_t i = 0; i < kBegin; ++i) port_.store_ub(counted_ + i * kInt, i);
    vector::ScalarTrip(port_).end();
    for (std::uint32_t made = kBegin; made < pitch_;) {
      const std::uint32_t more = std::min(made, pitch_ - made);
      issue(VectorOp::kAdds, counted_ + made * kInt, counted_, more, static_cast<float>(made));
      made += more;
    }
    for (std::uint32_t rows = 1; !unit_.in_registers() && rows < most_rows_;) {
      const std::uint32_t more = std::min(rows, most_rows_ - rows);
      issue(VectorOp::kCopy, counted_ + rows * pitch_ * kInt, counted_, more * pitch_);
      rows += more;
    }
  }
  // On `count` int32.
  void issue(VectorOp op, std::uint32_t to, std::uint32_t a, std::uint32_t count,
             float scalar = 0) const {
    Vector v = row_vector(op, DataType::kInt32, to, a, 1, count);
    v.scalar = scalar;
    port_.issue(v);
  }

  void tile(std::uint32_t first, std::uint32_t rows) {
    rows_ = rows;
    if (kept_ != 0) {
      fill(keys_, kComputed, kLastKey);
      fill(places_, DataType::kInt32, kBeyond);
    }
    const std::uint32_t begin = first % work_.parts * work_.part;
    const std::uint32_t end = std::min(begin + work_.part, work_.columns);
    for (std::uint32_t column = begin; column < end; column += columns_) {
      const std::uint32_t columns = std::min(columns_, end - column);
      part(first / work_.parts, column, columns);
      if (column + columns < end) keep_found();
    }
    store(first);
  }
  // What was found, before it is.
  void fill(std::uint32_t at, DataType type, float value) const {
    Vector v = row_vector(VectorOp::kDuplicate, type, at, 0, rows_, kept_);
    v.to_pitch = pitch_ * kInt;
    v.scalar = value;
    port_.issue(v);
  }

  void part(std::uint32_t first, std::uint32_t column, std::uint32_t columns) {
    const unsigned i = stages_.begin_load();
    const RowTile loaded{first, rows_, columns, pitch_ - kept_};
    vector::load_tile(port_, in_[i], {work_.from, work_.columns, column}, loaded, work_.type());
    if (work_.merges()) {
      vector::load_tile(port_, in_places_[i], {work_.from_places, work_.columns, column}, loaded,
                        DataType::kInt32);
    }
    stages_.loaded(i);
    const RowTile made{0, rows_, columns, pitch_};
    work_.merges() ? take_keys(i, made) : make_keys(i, made, static_cast<float>(column));
    stages_.consumed(i);
    const RowTile all{0, rows_, kept_ + columns, pitch_};
    for (std::uint32_t k = 0; k < work_.k; ++k) {
      find(all, k);
      find_place(all, k);
    }
  }

  // What parts found, as they left it.
  void take_keys(unsigned i, const RowTile& tile) const {
    const auto copy = [&](std::uint32_t to, std::uint32_t from) {
      Vector v = row_vector(VectorOp::kCopy, DataType::kInt32, to + kept_ * kInt, from, tile.rows,
                            tile.columns);
      v.to_pitch = pitch_ * kInt, v.a_pitch = loaded_pitch();
      port_.issue(v);
    };
    copy(keys_, in_[i]);
    copy(places_, in_places_[i]);
  }
  void make_keys(unsigned i, const RowTile& tile, float column) {
    const std::uint32_t keys = keys_ + kept_ * kInt, places = places_ + kept_ * kInt;
    unit_.begin(tile);
    const auto x = unit_.cast(in_[i], kTypeA, loaded_pitch(), kComputed, keys);
    auto place =
        unit_.make({VectorOp::kAdds, DataType::kInt32, column}, unit_.shared(counted_), places);
    auto key = x;
    if constexpr (kTypeA == DataType::kInt32) {
      key = unit_.make({VectorOp::kCopy, kTypeA}, x, keys);
    }
    if constexpr (kReal) {
      unit_.compare(Comparison::kEqual, {VectorOp::kCompare}, x, x);
      const auto moved = unit_.make(
          {VectorOp::kAdds, DataType::kInt32, kFirstNan * static_cast<float>(kMostColumns)}, place,
          scratch_);
      place = unit_.make({VectorOp::kSelect, DataType::kInt32}, place, moved, places);
      constexpr float kNanKey = kSmallest && !kValues ? -kInfinity : kInfinity;
      key = unit_.make({VectorOp::kSelects, DataType::kFp32, kNanKey}, x, keys);
    }
    unit_.keep(key, keys);
    unit_.keep(place, places);
    unit_.end();
  }

  // The k-th key. The one before leaves.
  void find(const RowTile& tile, std::uint32_t k) {
    unit_.begin(tile);
    auto keys = unit_.own(keys_);
    if (k != 0) {
      const auto places = unit_.own(places_);
      const auto last = unit_.number(at(found_places_, k - 1), scratch_);
      unit_.compare(Comparison::kNotEqual, {VectorOp::kCompare, DataType::kInt32}, places, last);
      keys = unit_.make({VectorOp::kSelects, kComputed, kLastKey}, keys, keys_);
      unit_.keep(keys, keys_);
      unit_.keep(unit_.make({VectorOp::kSelects, DataType::kInt32, kBeyond}, places, places_),
                 places_);
    }
    unit_.reduce(kFirst, kComputed, keys, at(found_, k));
    unit_.end();
  }
  // The first place where it is.
  void find_place(const RowTile& tile, std::uint32_t k) {
    unit_.begin(tile);
    const auto keys = unit_.own(keys_), places = unit_.own(places_);
    const auto key = unit_.number(at(found_, k), scratch_);
    unit_.compare(Comparison::kEqual, {VectorOp::kCompare, kComputed}, keys, key);
    const auto equal =
        unit_.make({VectorOp::kSelects, DataType::kInt32, kBeyond}, places, scratch_);
    unit_.reduce(VectorOp::kReduceMin, DataType::kInt32, equal, at(found_places_, k));
    unit_.end();
  }
  // Numbers of rows.
  std::uint32_t at(std::uint32_t numbers, std::uint32_t k) const {
    return numbers + k * numbers_ * kInt;
  }

  // Before the next part.
  void keep_found() const {
    turn(keys_, found_, pitch_ * kInt);
    turn(places_, found_places_, pitch_ * kInt);
  }
  void turn(std::uint32_t to, std::uint32_t from, std::uint32_t pitch) const {
    Vector v = row_vector(VectorOp::kTranspose, DataType::kInt32, to, from, work_.k, rows_);
    v.a_pitch = numbers_ * kInt;
    v.to_pitch = pitch;
    port_.issue(v);
  }

  void store(std::uint32_t first) {
    const bool partial = work_.partial != 0;
    if (kReal && !partial) restore_nans();
    const unsigned set = stages_.begin_result();
    const AreaTile area{first, 0, rows_, work_.k};
    const DataType type = partial ? kComputed : kTypeA;
    if (kValues || partial) make_rows(out_, found_, kComputed, type);
    make_rows(out_places_, found_places_, DataType::kInt32, DataType::kInt32);
    stages_.computed(set);
    if (kValues || partial) store_found(work_.values, area, out_, type);
    store_found(work_.places, area, out_places_, DataType::kInt32);
    stages_.stored(set);
  }
  // Of one number a row all rows are one.
  void make_rows(std::uint32_t to, std::uint32_t from, DataType type, DataType to_type) const {
    if (work_.k == 1) return convert_rows(port_, to, to_type, from, type, 1, rows_);
    const bool as_is = type == to_type;
    turn(as_is ? to : turned_, from, aicore::row_bytes(work_.k, type));
    if (!as_is) convert_rows(port_, to, to_type, turned_, type, rows_, work_.k);
  }
  void store_found(std::uint64_t to, const AreaTile& area, std::uint32_t from,
                   DataType type) const {
    if (work_.k != 1) return store_rows(port_, {to, work_.k}, area, from, type);
    store_rows(port_, {to, 0}, {0, area.row, 1, area.rows}, from, type);
  }
  // Their places and values, as they were.
  void restore_nans() const {
    constexpr float kMoved = kFirstNan * static_cast<float>(kMostColumns);
    const std::uint32_t count = work_.k * numbers_;
    const std::uint32_t mask = turned_;
    issue(VectorOp::kAdds, spare_, found_places_, count, -kMoved);
    Vector v = row_vector(VectorOp::kCompares, DataType::kInt32, mask, found_places_, 1, count);
    v.comparison = kFirstNan < 0 ? Comparison::kGreaterEqual : Comparison::kLess;
    v.scalar = kFirstNan < 0 ? 0 : kMoved;
    v.to_pitch = 0;
    port_.issue(v);
    v = row_vector(VectorOp::kSelect, DataType::kInt32, found_places_, found_places_, 1, count);
    v.b = spare_;
    v.mask = mask;
    port_.issue(v);
    v = row_vector(VectorOp::kSelects, DataType::kFp32, found_, found_, 1, count);
    v.scalar = __builtin_nanf("");
    v.mask = mask;
    port_.issue(v);
  }

  AicorePort& port_;
  const Work work_;
  StagesOf<kSets, 1> stages_;
  RowUnit unit_;
  std::uint32_t columns_ = 0, kept_ = 0, pitch_ = 0, most_rows_ = 0, numbers_ = 0;
  std::uint32_t in_[kSets] = {}, in_places_[kSets] = {}, keys_ = 0, places_ = 0, scratch_ = 0,
                counted_ = 0;
  std::uint32_t found_ = 0, found_places_ = 0, spare_ = 0;  // k numbers of each row, k by k
  std::uint32_t out_ = 0, out_places_ = 0, turned_ = 0;
  std::uint32_t rows_ = 0;  // of the tile
};

constexpr bool kSegments = !kValues && kReal;
using Segments = vector::RowSegments<kSmallest>;

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  if (work.share == 0) {
    Rows(port, work).run();
  } else if constexpr (kSegments) {
    Segments(port, {work.from, work.places, work.columns, work.rows, work.share}).run();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  const std::uint64_t rows = params.sides[0], columns = params.sides[1];
  const std::uint64_t k = kValues ? params.sides[2] : 1;
  if (rows == 0 || k == 0) return;
  if (rows > kMostSide || columns >= kMostColumns) {
    return stream.refuse("rows must be below 2^31, columns below 2^29");
  }
  if (k > columns || k > kMostK) {
    return stream.refuse("a row has as many elements at least, and k is at most 1024");
  }
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.results[0], kTypeC) ||
      (kValues && !aligned(params.results[1], DataType::kInt32))) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 16 * 1024 + 160 * k) {
    return stream.refuse("UB is smaller than 16 KiB and 160 bytes for each of k");
  }
  Work work;
  work.from = params.inputs[0];
  work.values = params.results[0], work.places = params.results[kValues ? 1 : 0];
  work.rows = static_cast<std::uint32_t>(rows);
  work.columns = work.part = static_cast<std::uint32_t>(columns);
  work.k = static_cast<std::uint32_t>(k);
  Launches launches(stream, CoreKind::kVector, block_num);
  if constexpr (kSegments) {
    work.share = Segments::share(stream.limits(), work.rows, columns, launches.own_cores());
    const std::uint32_t share = work.share;
    if (share != 0) return launches.launch(CoreKind::kVector, 0U, work, (rows + share - 1) / share);
  }
  const auto most = std::min<std::uint64_t>(launches.own_cores() / rows,
                                            columns / std::max<std::uint64_t>(kLeastPart, 8 * k));
  if (most < 2 || columns * k < kLeastWork)
    return launches.launch(CoreKind::kVector, 0U, work, rows);
  Work merging = work;
  work.part =
      aicore::round_up(aicore::divide_up(work.columns, static_cast<std::uint32_t>(most)), 64U);
  work.parts = aicore::divide_up(work.columns, work.part);
  // The last part may be shorter than k: nothing is found behind its elements.
  const std::uint32_t found = work.parts * work.k;
  const std::uint64_t bytes = rows * found * kInt;
  const std::uint64_t space = stream.workspace(2 * bytes);
  if (space == 0) return;
  work.partial = 1;
  work.values = merging.from = space;
  work.places = merging.from_places = space + bytes;
  merging.columns = merging.part = found;
  launches.launch(CoreKind::kVector, 0U, work, rows * work.parts);
  launches.launch(CoreKind::kVector, 1U, merging, rows);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
