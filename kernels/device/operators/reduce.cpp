// SPDX-License-Identifier: Apache-2.0
// The middle one of three axes brought together. NPU_JIT_REDUCTION: sum, mean, max, min or prod;
// NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C: both reals, or both int8 or int32; TensorParams. Reals
// are computed in fp32, integers in int32. Rows, whose inner axis is 1, are reduced by the unit's
// own instruction; of products, which have none, and of columns, rows of a tile are folded onto
// each other. A long axis of few results is cut in parts, whose results the second launch brings
// together.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/zeros.hpp"
#include "kernels/device/vector/row_unit.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

namespace npu::kernels {
namespace {

using vector::Comparison;
using vector::kComputed;
using vector::kTypeA;
using vector::kTypeC;
using vector::RowTile;
using vector::RowUnit;
using vector::size_of;

constexpr std::string_view kReduction = NPU_JIT_TEXT(NPU_JIT_REDUCTION);
constexpr bool kSums = kReduction == "sum" || kReduction == "mean";
constexpr bool kProduct = kReduction == "prod";
constexpr bool kLargest = kReduction == "max";
static_assert(kSums || kProduct || kLargest || kReduction == "min",
              "NPU_JIT_REDUCTION must be sum, mean, max, min or prod");
static_assert(kTypeA != DataType::kInt64 && kTypeC != DataType::kInt64 &&
                  is_real(kTypeA) == is_real(kTypeC),
              "NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C must both be half, bfloat16 or float, or "
              "both int8 or int32");
static_assert(kReduction != "mean" || is_real(kTypeA),
              "a mean is of reals: NPU_JIT_ELEMENT_A must be half, bfloat16 or float");

constexpr VectorOp kFold = kSums      ? VectorOp::kAdd
                           : kProduct ? VectorOp::kMul
                           : kLargest ? VectorOp::kMax
                                      : VectorOp::kMin;
constexpr VectorOp kReduce = kSums      ? VectorOp::kReduceSum
                             : kLargest ? VectorOp::kReduceMax
                                        : VectorOp::kReduceMin;
// The unit's largest and smallest ones drop what is no number; it shows in the bits of sizes.
constexpr bool kFindsNans = is_real(kTypeA) && !kSums && !kProduct;
constexpr float kBitsOfInfinity = 0x7F80'0000;
constexpr float kNan = __builtin_nanf("");
constexpr float kOfNothing = kReduction == "mean" ? kNan : kProduct ? 1 : 0;

constexpr std::uint32_t kFour = 4;  // bytes of what is computed in
constexpr std::uint32_t kGrain = 32;
constexpr std::uint32_t kMostColumns = 2048, kMostTileRows = 512;
constexpr std::uint32_t kFixedBytes = 40 * 1024;

enum class Phase : std::uint64_t { kFirst, kParts, kFill };

struct Work {
  std::uint64_t from = 0, to = 0;
  std::uint64_t outer = 0, axis = 0, inner = 0;
  std::uint64_t part = 0, parts = 1;  // of the axis
  std::uint32_t columns = 1;          // of a tile
  float factor = 1;
  std::uint32_t from_computed = 0, to_computed = 0;  // partial results

  DataType from_type() const { return from_computed != 0 ? kComputed : kTypeA; }
  DataType to_type() const { return to_computed != 0 ? kComputed : kTypeC; }
  std::uint64_t pieces() const {
    return outer * parts * aicore::divide_up<std::uint64_t>(inner, columns);
  }
};

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work), unit_(port), stages_(port) {
    aicore::UbParts ub;
    const auto all = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    elements_ = (all - kFixedBytes) / (kSets * kFour + 2 * kFour + 1) / 64 * 64;
    for (std::uint32_t& at : in_) at = ub.take(elements_ * kFour);
    computed_ = ub.take(elements_ * kFour);
    other_ = ub.take(elements_ * kFour);
    unit_.mask_at(ub.take(elements_ / 8));
    for (auto* at : {&result_, &nans_, &next_, &out_}) *at = ub.take(kMostColumns * kFour);
  }

  void run() { work_.inner == 1 ? rows() : columns(); }

 private:
  struct Span {
    std::uint64_t first = 0, count = 0;  // elements of the axis
  };
  Span span(std::uint64_t part) const {
    const std::uint64_t first = part * work_.part;
    return {first, std::min(work_.part, work_.axis - first)};
  }

  // Rows of x, or the parts of one.
  void rows() {
    const std::uint64_t all = work_.outer * work_.parts;
    const auto& call = port_.call();
    const std::uint64_t begin = all * call.block / call.blocks;
    const std::uint64_t end = all * (std::uint64_t{call.block} + 1) / call.blocks;
    const auto columns = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(elements_ / (kProduct ? kGrain : 1), work_.part));
    std::uint64_t most = elements_ / aicore::round_up(columns, kGrain);
    if (kProduct) most = std::min<std::uint64_t>(most, elements_ / columns / kGrain * kGrain);
    most = std::clamp<std::uint64_t>(most, 1, kMostTileRows);
    if (work_.parts != 1) most = 1;
    for (std::uint64_t row = begin; row < end; row += most) {
      const auto count = static_cast<std::uint32_t>(std::min(most, end - row));
      const Span of = span(row % work_.parts);
      for (std::uint64_t at = 0; at < of.count; at += columns) {
        const auto part =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(columns, of.count - at));
        const RowTile tile{row / work_.parts, count, part, aicore::round_up(part, kGrain)};
        reduce_rows({work_.from, work_.axis, of.first + at}, tile, at == 0);
      }
      store(row, count);
    }
  }

  void reduce_rows(const vector::Columns& from, const RowTile& tile, bool first) {
    const unsigned i = load(from, tile);
    if constexpr (kProduct) {
      fold_turned(i, tile);
    } else {
      unit_.begin(tile);
      const auto x = unit_.cast(in_[i], type(), tile.pitch * size_of(type()), kComputed, computed_);
      unit_.reduce(kReduce, kComputed, x, first ? result_ : next_);
      if constexpr (kFindsNans) {
        const auto sizes = unit_.make({VectorOp::kAbs}, x, other_);
        unit_.reduce(VectorOp::kReduceMax, DataType::kInt32, sizes, first ? nans_ : other_);
      }
      unit_.end();
    }
    stages_.consumed(i);
    if (kProduct) return collect(computed_, 0, tile.rows, first);
    if (first) return;
    issue(kFold, kComputed, result_, result_, next_, tile.rows);
    if (kFindsNans) issue(VectorOp::kMax, DataType::kInt32, nans_, nans_, other_, tile.rows);
  }
  // Its columns as rows of a number each, folded.
  void fold_turned(unsigned i, const RowTile& tile) {
    std::uint32_t x = in_[i];
    if (type() != kComputed) {
      convert_rows(port_, other_, kComputed, x, type(), 1, tile.count());
      x = other_;
    }
    const std::uint32_t pitch = aicore::round_up(tile.rows, kGrain);
    Vector v = row_vector(VectorOp::kTranspose, kComputed, computed_, x, tile.rows, tile.columns);
    v.a_pitch = tile.pitch * kFour, v.to_pitch = pitch * kFour;
    port_.issue(v);
    fold(computed_, kComputed, kFold, {0, tile.columns, tile.rows, pitch});
  }

  void columns() {
    const std::uint64_t across = aicore::divide_up<std::uint64_t>(work_.inner, work_.columns);
    for (std::uint64_t i = port_.call().block; i < work_.pieces(); i += port_.call().blocks) {
      const std::uint64_t column = i % across * work_.columns, row = i / across;
      const auto width =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.columns, work_.inner - column));
      const std::uint32_t pitch = aicore::round_up(width, kGrain);
      const std::uint32_t most = elements_ / pitch;
      const Span of = span(row % work_.parts);
      for (std::uint64_t at = 0; at < of.count; at += most) {
        const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, of.count - at));
        fold_rows({work_.from, work_.inner, column},
                  {row / work_.parts * work_.axis + of.first + at, rows, width, pitch}, at == 0);
      }
      store(row * work_.inner + column, width);
    }
  }
  void fold_rows(const vector::Columns& from, const RowTile& tile, bool first) {
    const unsigned i = load(from, tile);
    if (unit_.in_registers()) {
      fold(in_[i], type(), kFold, tile);
      stages_.consumed(i);
      return collect(computed_, 0, tile.pitch, first);
    }
    std::uint32_t x = in_[i];
    if (type() != kComputed) {
      convert_rows(port_, computed_, kComputed, x, type(), 1, tile.count());
      stages_.consumed(i);
      x = computed_;
    }
    if constexpr (kFindsNans) {
      issue(VectorOp::kAbs, DataType::kFp32, other_, x, x, tile.count());
      fold(other_, DataType::kInt32, VectorOp::kMax, tile);
    }
    fold(x, kComputed, kFold, tile);
    collect(x, other_, tile.pitch, first);
    if (type() == kComputed) stages_.consumed(i);
  }

  // What a tile comes to, to what those before did.
  void collect(std::uint32_t from, std::uint32_t sizes, std::uint32_t count, bool first) const {
    const bool finds = kFindsNans && !unit_.in_registers();
    if (first) {
      issue(VectorOp::kCopy, kComputed, result_, from, from, count);
      if (finds) issue(VectorOp::kCopy, DataType::kInt32, nans_, sizes, sizes, count);
      return;
    }
    if (unit_.in_registers()) return fold_two(from, count);
    issue(kFold, kComputed, result_, result_, from, count);
    if (finds) issue(VectorOp::kMax, DataType::kInt32, nans_, nans_, sizes, count);
  }

  // All rows of a tile into the first one: of computed_ in registers, else of `at`.
  void fold(std::uint32_t at, DataType from, VectorOp op, const RowTile& tile) const {
    if (unit_.in_registers()) return fold_in_registers(at, from, tile);
    const std::uint32_t bytes = tile.pitch * kFour;
    for (std::uint32_t rows = tile.rows; rows > 1;) {
      const std::uint32_t kept = (rows + 1) / 2, folded = rows - kept;
      issue(op, from, at, at, at + kept * bytes, folded * tile.pitch);
      rows = kept;
    }
  }
  static constexpr std::uint32_t kRows = 15;   // that a function adds up
  static constexpr std::uint32_t kWide = 512;  // elements of a row that fill it

  // Narrow rows first by halves, as one long row each.
  void fold_in_registers(std::uint32_t at, DataType from, RowTile tile) const {
    while (tile.pitch < kWide && tile.rows > kRows) {
      const std::uint32_t kept = (tile.rows + 1) / 2, folded = tile.rows - kept;
      const std::uint32_t bytes = tile.pitch * size_of(from);
      FunctionBuilder<3, 2> function;
      function.load(1, at, from);
      function.load(2, at + kept * bytes, from);
      add(function, function.cast(3, kComputed, 1, from), function.cast(4, kComputed, 2, from));
      function.store(0, computed_, kComputed);
      function.issue(port_, 1, folded * tile.pitch);
      if (kept != folded && at != computed_) {
        convert_rows(port_, computed_ + folded * tile.pitch * kFour, kComputed, at + folded * bytes,
                     from, 1, tile.pitch);
      }
      at = computed_, from = kComputed;
      tile.rows = kept;
    }
    add_rows(at, from, tile);
  }
  // So many rows at a time to what there is so far.
  void add_rows(std::uint32_t at, DataType from, const RowTile& tile) const {
    const std::uint32_t bytes = tile.pitch * size_of(from);
    for (std::uint32_t row = 0; row < tile.rows; row += kRows) {
      FunctionBuilder<2 * kRows, kRows + 1> function;
      const std::uint32_t rows = std::min(kRows, tile.rows - row);
      std::uint8_t next = kRows + 1, sum = 0;
      if (row != 0) function.load(0, computed_, kComputed);
      for (std::uint8_t i = 1; i <= rows; ++i) {
        function.load(i, at + (row + i - 1) * bytes, from);
        const std::uint8_t x = function.cast(next, kComputed, i, from);
        if (x == next) ++next;
        if (row == 0 && i == 1) {
          sum = x;
        } else {
          add(function, sum, x);
          sum = 0;
        }
      }
      function.store(sum, computed_, kComputed);
      function.issue(port_, 1, tile.pitch);
    }
  }
  template <class Function>
  static void add(Function& function, std::uint8_t a, std::uint8_t b) {
    FunctionStep step;
    step.op = kFold;
    step.type = step.to_type = kComputed;
    step.to = 0, step.a = a, step.b = b;
    function.step(step);
  }
  void fold_two(std::uint32_t from, std::uint32_t count) const {
    FunctionBuilder<1, 2> function;
    function.load(1, result_, kComputed);
    function.load(2, from, kComputed);
    add(function, 1, 2);
    function.store(0, result_, kComputed);
    function.issue(port_, 1, count);
  }

  void store(std::uint64_t first, std::uint32_t count) {
    const bool finds = kFindsNans && (work_.inner == 1 || !unit_.in_registers());
    if (finds) restore_nans(count);
    if (work_.factor != 1) scalar(VectorOp::kMuls, work_.factor, count);
    const unsigned set = stages_.begin_result();
    convert_rows(port_, out_, work_.to_type(), result_, kComputed, 1, count);
    stages_.computed(set);
    store_rows(port_, {work_.to, 0}, {0, first, 1, count}, out_, work_.to_type());
    stages_.stored(set);
  }
  void restore_nans(std::uint32_t count) const {
    Vector v = row_vector(VectorOp::kCompares, DataType::kInt32, other_, nans_, 1, count);
    v.comparison = Comparison::kLessEqual;
    v.scalar = kBitsOfInfinity;
    v.to_pitch = 0;
    port_.issue(v);
    v = row_vector(VectorOp::kSelects, kComputed, result_, result_, 1, count);
    v.scalar = kNan;
    v.mask = other_;
    port_.issue(v);
  }
  void scalar(VectorOp op, float number, std::uint32_t count) const {
    Vector v = row_vector(op, kComputed, result_, result_, 1, count);
    v.scalar = number;
    port_.issue(v);
  }
  void issue(VectorOp op, DataType of, std::uint32_t to, std::uint32_t a, std::uint32_t b,
             std::uint32_t count) const {
    Vector v = row_vector(op, of, to, a, 1, count);
    v.b = b;
    port_.issue(v);
  }

  DataType type() const { return work_.from_type(); }
  unsigned load(const vector::Columns& from, const RowTile& tile) {
    const unsigned i = stages_.begin_load();
    vector::load_tile(port_, in_[i], from, tile, type());
    stages_.loaded(i);
    return i;
  }

  AicorePort& port_;
  const Work work_;
  RowUnit unit_;
  StagesOf<kSets, 1> stages_;
  std::uint32_t elements_ = 0;  // of a tile
  std::uint32_t in_[kSets] = {}, computed_ = 0, other_ = 0;
  std::uint32_t result_ = 0, nans_ = 0, next_ = 0, out_ = 0;  // a number of each row or column
};

int kernel(AicorePort& port) {
  const aicore::Arguments arguments(port, kWorkWords<Work>);
  const auto work = work_from<Work>(arguments);
  if (static_cast<Phase>(arguments.word(0)) == Phase::kFill) {
    const std::uint64_t count = work.outer * work.inner;
    Zeros(port, kTypeC, count, kOfNothing).fill({work.to, 0}, 1, count);
  } else {
    Tiles(port, work).run();
  }
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// Columns of a tile, and parts of the axis, so that all cores have something to do.
void divide(Work& work, std::uint32_t cores) {
  constexpr std::uint64_t kLeastBytes = 8192;  // of a core
  const std::uint64_t share = aicore::divide_up<std::uint64_t>(work.inner * work.outer, cores);
  work.columns = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      {work.inner, kMostColumns,
       std::max<std::uint64_t>(aicore::round_up<std::uint64_t>(share, 64), 128)}));
  work.part = work.axis;
  const std::uint64_t pieces = work.pieces();
  const std::uint64_t bytes = work.axis * work.columns * size_of(kTypeA);
  const std::uint64_t parts = std::min(cores / pieces, bytes / kLeastBytes);
  if (parts < 2) return;
  work.part = aicore::round_up<std::uint64_t>(aicore::divide_up(work.axis, parts), 64);
  work.parts = aicore::divide_up(work.axis, work.part);
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  Work work;
  work.outer = params.sides[0], work.axis = params.sides[1], work.inner = params.sides[2];
  if (work.outer == 0 || work.inner == 0) return;
  if (work.outer > kMostSide || work.axis > kMostSide || work.inner > kMostSide ||
      work.outer * std::max<std::uint64_t>(work.axis, 1) > aicore::kMostElements / work.inner) {
    return stream.refuse("sides must be below 2^31, elements below 2^44");
  }
  if (work.axis == 0 && !kSums && !kProduct) return stream.refuse("nothing has no largest one");
  if (!aligned(params.inputs[0], kTypeA) || !aligned(params.results[0], kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 96 * 1024) return stream.refuse("UB is smaller than 96 KiB");
  work.from = params.inputs[0], work.to = params.results[0];
  Launches launches(stream, CoreKind::kVector, block_num);
  if (work.axis == 0) return launches.launch(CoreKind::kVector, Phase::kFill, work, 1);
  divide(work, launches.own_cores());
  const float factor = kReduction == "mean" ? 1 / static_cast<float>(work.axis) : 1;
  if (work.parts == 1) {
    work.factor = factor;
    return launches.launch(CoreKind::kVector, Phase::kFirst, work, work.pieces());
  }
  Work second = work;
  second.from = work.to = stream.workspace(work.outer * work.parts * work.inner * kFour);
  if (work.to == 0) return;
  work.to_computed = second.from_computed = 1;
  second.axis = second.part = work.parts;
  second.parts = 1;
  second.factor = factor;
  launches.launch(CoreKind::kVector, Phase::kFirst, work, work.pieces());
  launches.launch(CoreKind::kVector, Phase::kParts, second, second.pieces());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
