// SPDX-License-Identifier: Apache-2.0
// The expression of vector/formula.hpp over a, b and c, each of which may be repeated along axes.
// NPU_JIT_ELEMENT_A (a, b) and NPU_JIT_ELEMENT_C (result), c is int8; BroadcastParams. Neighbouring
// axes that are repeated alike are one; tiles are rows of the two innermost ones.
#include <optional>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/formula.hpp"
#include "kernels/device/vector/function_tiles.hpp"
#include "kernels/device/vector/operand_tile.hpp"

namespace npu::kernels {
namespace {

using vector::kComputed;
using vector::kMostTileRows;
using vector::kTreeNeeds;
using vector::kTypeA;
using vector::kTypeC;
using vector::size_of;

constexpr unsigned kOperands = kTreeNeeds.inputs < 4 ? 2 : 3;
static_assert(kTreeNeeds.inputs < 1U << kOperands,
              "operands that are repeated are a, b and c: NPU_JIT_EXPRESSION");
constexpr DataType type_of(unsigned operand) {
  return kOperands < 3 || operand < 2 ? kTypeA : DataType::kInt8;
}
constexpr bool casts(unsigned operand) {
  return type_of(operand) != kComputed;
}
constexpr std::uint32_t bytes_of_all(bool cast) {
  std::uint32_t bytes = 0;
  for (unsigned k = 0; k < kOperands; ++k) {
    bytes += !cast ? size_of(type_of(k)) : casts(k) ? size_of(kComputed) : 0;
  }
  return bytes;
}

struct Axis {
  std::uint64_t size = 1;
  std::uint64_t steps[kOperands] = {};  // elements from one to the next; 0: the same one
  std::uint64_t to = 0;
};

struct Work {
  // Of the generated kernels of the library, which have their sizes as arguments.
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t from[kOperands] = {}, to = 0;
  Axis rows, columns;
  std::uint32_t tile_rows = 1, tile_columns = 1;
  std::uint32_t axes = 0, reserved = 0;  // others
  Axis others[kMostAxes];
  float scalars[4] = {};

  std::uint64_t rows_of_tiles() const {
    return aicore::divide_up<std::uint64_t>(rows.size, tile_rows);
  }
  std::uint64_t columns_of_tiles() const {
    return aicore::divide_up<std::uint64_t>(columns.size, tile_columns);
  }
  std::uint64_t outer() const {
    std::uint64_t all = 1;
    for (std::uint32_t i = 0; i < axes; ++i) all *= others[i].size;
    return all;
  }
};

constexpr bool kCasts = kTypeA != kComputed && (kOperands < 3 || casts(2));
constexpr bool kAsIs = kTypeC == kComputed;
constexpr unsigned kRegisters = kTreeNeeds.registers - (kAsIs && kTreeNeeds.registers != 0 ? 1 : 0);
constexpr std::uint32_t kBlock =
    aicore::kLocalAlignment /
    std::min({size_of(kTypeA), size_of(kTypeC), size_of(type_of(kOperands - 1))});  // elements
constexpr std::uint32_t kElementBits =
    8 * (kSets * (bytes_of_all(false) + size_of(kTypeC)) + bytes_of_all(true) +
         (kRegisters + kTreeNeeds.constants) * size_of(kComputed)) +
    1;  // of a mask
constexpr std::uint32_t kNumbersBytes =
    kOperands * kMostTileRows * (kSets * size_of(kTypeA) + size_of(kComputed)) +
    8 * aicore::kLocalAlignment;

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work)
      : port_(port),
        work_(work),
        tree_(expression::make(work.scalars)),
        stages_(port),
        in_registers_(computes_in_registers()) {
    const std::uint32_t count = work.tile_rows * aicore::round_up(work.tile_columns, kBlock);
    aicore::UbParts ub;
    for (unsigned k = 0; k < kOperands; ++k) {
      const std::uint32_t cast = casts(k) ? ub.take(count * size_of(kComputed)) : 0;
      const std::uint32_t numbers = ub.take(work.tile_rows * size_of(kComputed));
      for (unsigned i = 0; i < kSets; ++i) {
        places_[i][k] = {ub.take(count * size_of(type_of(k))), cast,
                         ub.take(work.tile_rows * size_of(type_of(k))), numbers};
      }
    }
    for (std::uint32_t& at : out_) at = ub.take(count * size_of(kTypeC));
    register_bytes_ = count * size_of(kComputed);
    registers_ = ub.take((kRegisters + kTreeNeeds.constants) * register_bytes_);
    mask_ = ub.take((count + 7) / 8);
  }

  void run() {
    const std::uint64_t across = work_.columns_of_tiles(), down = work_.rows_of_tiles();
    const std::uint64_t tiles = across * down * work_.outer();
    bool first = true;
    for (std::uint64_t i = port_.call().block; i < tiles; i += port_.call().blocks) {
      place(i / down / across);
      const std::uint64_t row = i % down * work_.tile_rows;
      const std::uint64_t column = i / down % across * work_.tile_columns;
      move(work_.rows, row);
      move(work_.columns, column);
      const auto columns = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(work_.tile_columns, work_.columns.size - column));
      one({0,
           static_cast<std::uint32_t>(
               std::min<std::uint64_t>(work_.tile_rows, work_.rows.size - row)),
           columns, aicore::round_up(columns, kBlock)},
          first);
      first = false;
    }
  }

 private:
  void move(const Axis& axis, std::uint64_t by) {
    for (unsigned k = 0; k < kOperands; ++k) from_[k] += by * axis.steps[k] * size_of(type_of(k));
    to_ += by * axis.to * size_of(kTypeC);
  }
  // Where the other axes begin.
  void place(std::uint64_t index) {
    std::copy(work_.from, work_.from + kOperands, from_);
    to_ = work_.to;
    for (std::uint32_t i = work_.axes; i-- > 0;) {
      move(work_.others[i], index % work_.others[i].size);
      index /= work_.others[i].size;
    }
  }
  vector::OperandTile operand(unsigned k, const vector::RowTile& tile) const {
    return {port_, type_of(k), kComputed, {work_.rows.steps[k], work_.columns.steps[k]}, tile};
  }
  static constexpr bool used(unsigned k) { return (kTreeNeeds.inputs >> k & 1) != 0; }

  void one(const vector::RowTile& tile, bool first) {
    const unsigned i = stages_.begin_load();
    for (unsigned k = 0; k < kOperands; ++k) {
      if (used(k)) operand(k, tile).load(places_[i][k], from_[k]);
    }
    stages_.loaded(i);
    if (in_registers_) return store(compute_in_registers(i, tile), tile);
    expression::Emitter<Fixed<kComputed>> emitter{
        {port_, {}, tile.count()}, {}, kTypeC == DataType::kFp32};
    for (unsigned k = 0; k < kOperands; ++k) {
      if (used(k)) emitter.inputs[k] = operand(k, tile).make(places_[i][k]);
    }
    if constexpr (kCasts) stages_.consumed(i);
    unsigned set = 0;
    if constexpr (kAsIs) set = stages_.begin_result();
    emitter.first = kAsIs ? out_[set] : registers_;
    emitter.others = registers_ + (kAsIs ? 0 : register_bytes_);
    emitter.constants = registers_ + kRegisters * register_bytes_;
    emitter.mask = mask_;
    emitter.register_bytes = register_bytes_;
    emitter.makes_constants = first;
    const std::uint32_t value = emitter.value(tree_);
    if constexpr (!kAsIs) set = stages_.begin_result();
    if (value != out_[set]) {
      convert_rows(port_, out_[set], kTypeC, value, kComputed, 1, tile.count());
    }
    if constexpr (!kCasts) stages_.consumed(i);
    store(set, tile);
  }

  // Of operands that are repeated along both axes there is no number for each row.
  bool computes_in_registers() const {
    bool known = port_.has_vector_functions() && vector::fits_function<vector::Tree>();
    for (unsigned k = 0; k < kOperands; ++k) {
      known = known && (!used(k) || work_.rows.steps[k] != 0 || work_.columns.steps[k] != 0);
    }
    return known;
  }
  // What is repeated is loaded so, once for each register.
  unsigned compute_in_registers(unsigned i, const vector::RowTile& tile) {
    if (!function_) {
      result_ = vector::make_steps(function_.emplace(), kTreeNeeds, type_of, Fixed<kComputed>{},
                                   kTypeC, true, [&](auto use) { return use(tree_); });
    }
    function_->drop_tensors();
    std::uint8_t reg = 0;
    for (unsigned k = 0; k < kOperands; ++k) {
      if (!used(k)) continue;
      const bool numbers = work_.columns.steps[k] == 0;
      const auto rows = numbers                    ? FunctionRows::kNumber
                        : work_.rows.steps[k] == 0 ? FunctionRows::kShared
                                                   : FunctionRows::kOwn;
      function_->load(reg++, numbers ? places_[i][k].numbers : places_[i][k].loaded, type_of(k),
                      rows, tile.pitch * size_of(type_of(k)));
    }
    const unsigned set = stages_.begin_result();
    function_->store(result_, out_[set], kTypeC, FunctionRows::kOwn, tile.pitch * size_of(kTypeC));
    function_->issue(port_, tile.rows, tile.columns);
    stages_.consumed(i);
    return set;
  }

  void store(unsigned set, const vector::RowTile& tile) {
    stages_.computed(set);
    platform::CopyOut copy;
    copy.to = to_;
    copy.from = {LocalBuffer::kUb, out_[set]};
    copy.rows = tile.rows;
    copy.row_bytes = tile.columns * size_of(kTypeC);
    copy.to_pitch = tile.rows == 1 ? 0 : work_.rows.to * size_of(kTypeC);
    copy.from_pitch = tile.pitch * size_of(kTypeC);
    port_.issue(copy);
    stages_.stored(set);
  }

  AicorePort& port_;
  const Work work_;
  const vector::Tree tree_;
  Stages stages_;
  const bool in_registers_;
  std::optional<vector::ElementFunction> function_;
  std::uint8_t result_ = 0;  // register
  vector::OperandPlaces places_[kSets][kOperands];
  std::uint32_t out_[kSets] = {};
  std::uint32_t registers_ = 0, register_bytes_ = 0, mask_ = 0;
  std::uint64_t from_[kOperands] = {}, to_ = 0;  // of a tile
};

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  Tiles(port, work).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// Axes without those of one element, alike neighbours as one.
void put_axes(const BroadcastParams& params, Work& work) {
  Axis all[kMostAxes];
  std::uint32_t count = 0;
  std::uint64_t steps[] = {1, 1, 1}, to = 1;
  const std::uint32_t repeats[] = {params.a_repeats, params.b_repeats, params.c_repeats};
  const auto alike = [](const Axis& inner, const Axis& axis) {
    for (unsigned k = 0; k < kOperands; ++k) {
      if ((inner.steps[k] == 0) != (axis.steps[k] == 0)) return false;
    }
    return true;
  };
  for (std::uint32_t i = params.axes; i-- > 0;) {
    Axis axis{params.sides[i], {}, to};
    if (axis.size == 1) continue;
    to *= axis.size;
    for (unsigned k = 0; k < kOperands; ++k) {
      if ((repeats[k] >> i & 1) != 0) continue;
      axis.steps[k] = steps[k];
      steps[k] *= axis.size;
    }
    if (count != 0 && alike(all[count - 1], axis)) {
      all[count - 1].size *= axis.size;
    } else {
      all[count++] = axis;
    }
  }
  if (count > 0) work.columns = all[0];
  if (count > 1) work.rows = all[1];
  for (std::uint32_t i = count; i-- > 2;) work.others[work.axes++] = all[i];
  if (count == 0) std::fill_n(work.columns.steps, kOperands, 1);
}

// As large as fits, and no larger than keeps all cores busy; parts of about one size.
void tile(Work& work, std::uint64_t ub, std::uint32_t cores) {
  const std::uint64_t fit = 8 * (ub - kNumbersBytes) / kElementBits / kBlock * kBlock;
  const std::uint64_t parts = aicore::divide_up(work.columns.size, fit);
  const std::uint64_t columns = aicore::divide_up(work.columns.size, parts);
  work.tile_columns = static_cast<std::uint32_t>(
      parts == 1 ? columns : aicore::round_up(columns, std::uint64_t{kBlock}));
  const std::uint64_t strips = work.columns_of_tiles() * work.outer();
  const std::uint64_t shared =
      aicore::divide_up(work.rows.size, aicore::divide_up<std::uint64_t>(cores, strips));
  const std::uint64_t most =
      std::min<std::uint64_t>(fit / aicore::round_up(work.tile_columns, kBlock), kMostTileRows);
  work.tile_rows = static_cast<std::uint32_t>(
      aicore::divide_up(shared, aicore::divide_up(shared, std::max<std::uint64_t>(most, 1))));
}

void host(std::uint32_t block_num, OperatorStream& stream, const BroadcastParams& params) {
  if (params.axes > kMostAxes) return stream.refuse("0 to 8 axes are possible");
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < params.axes; ++i) {
    const std::uint64_t side = params.sides[i];
    if (side != 0 && elements > aicore::kMostElements / side) {
      return stream.refuse("elements must be below 2^44");
    }
    elements *= side;
  }
  if (elements == 0) return;
  const std::uint64_t from[] = {params.a, params.b, params.c};
  for (unsigned k = 0; k < kOperands; ++k) {
    if ((kTreeNeeds.inputs >> k & 1) != 0 && from[k] == 0) {
      return stream.refuse("the expression names an input that was not given");
    }
  }
  if (!aligned(params.a, kTypeA) || !aligned(params.b, kTypeA) || !aligned(params.to, kTypeC)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  const std::uint64_t ub = stream.limits().ub;
  if (ub < kNumbersBytes || 8 * (ub - kNumbersBytes) < kBlock * kElementBits) {
    return stream.refuse("UB is too small for an expression with so many values at a time");
  }
  Work work;
  std::copy(from, from + kOperands, work.from);
  work.to = params.to;
  std::copy(params.scalars, params.scalars + 4, work.scalars);
  put_axes(params, work);
  Launches launches(stream, CoreKind::kVector, block_num);
  tile(work, ub, launches.cores(CoreKind::kVector));
  launches.launch(CoreKind::kVector, 0U, work,
                  work.rows_of_tiles() * work.columns_of_tiles() * work.outer());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::BroadcastParams)
