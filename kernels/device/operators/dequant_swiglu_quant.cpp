// SPDX-License-Identifier: Apache-2.0
// silu(one half) * other half of each row, as int8 with a scale each; integers become reals by
// scales of their columns and rows. NPU_JIT_ELEMENT_A (from): half, bfloat16, float or int32;
// NPU_JIT_ELEMENT_C: int8; DequantSwigluQuantParams. As the library of operators does it
// (docs/sources/operators.md B5): one buffer of each kind, integers one row at a time, short
// rows of them with two buffers, scales by the scalar unit. Rows that do not fit are read in parts,
// twice.
#include <optional>

#include "kernels/device/common/entries.hpp"
#include "kernels/device/vector/quantise.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;
using vector::size_of;

constexpr bool kIntegers = kTypeA == DataType::kInt32;
static_assert(
    (is_real(kTypeA) || kIntegers) && vector::kTypeC == DataType::kInt8,
    "halves of rows are half, bfloat16, float or int32 (NPU_JIT_ELEMENT_A), the result is "
    "int8 (NPU_JIT_ELEMENT_C)");

struct Work {
  DequantSwigluQuantParams params;
  std::uint32_t piece = 0;    // rows of a tile; of parts: elements
  std::uint32_t buffers = 0;  // for what is loaded; 0: rows do not fit
};

constexpr std::uint32_t kOfInput = size_of(kTypeA), kOfFp32 = size_of(DataType::kFp32);
// Of an element: the halves, three values, the result, its scale, weights of both halves.
constexpr std::uint32_t kBytes = 2 * kOfInput + 4 * kOfFp32 + 1 + (kIntegers ? 2 * kOfFp32 : 0);
constexpr std::uint32_t kRowsAtOnce = 256;  // whose scales are loaded and stored together
constexpr std::uint32_t kKept = 1024 + 2 * kRowsAtOnce * kOfFp32;

constexpr std::uint32_t padded(std::uint32_t columns) {
  return aicore::round_up(columns, aicore::kLocalAlignment);  // whole blocks of int8
}

template <unsigned kBuffers>
class Rows {
 public:
  Rows(AicorePort& port, const Work& work)
      : port_(port), work_(work), p_(work.params), stages_(port) {
    const std::uint32_t row = padded(work.buffers != 0 ? p_.columns : work.piece);
    const std::uint32_t count = row * (work.buffers != 0 ? work.piece : 1);
    aicore::UbParts ub;
    for (auto& set : in_) {
      for (auto& half : set) half = ub.take(count * kOfInput);
    }
    for (auto* value : {&x_, &y_, &z_}) *value = ub.take(count * kOfFp32);
    for (auto& out : out_) out = ub.take(count);
    quant_ = ub.take(row * kOfFp32);
    for (auto& half : weights_) half = ub.take(kIntegers ? row * kOfFp32 : 0);
    for (auto& number : numbers_) number = ub.take(kOfFp32);
    tokens_ = ub.take(kRowsAtOnce * kOfFp32);
    scales_.emplace(port, ub.take(kRowsAtOnce * kOfFp32));
    if (work.buffers != 0) load_columns({0, 1, p_.columns, p_.columns}, 0);
  }

  void run(std::uint32_t first, std::uint32_t rows) {
    load_tokens(first, rows);
    scales_->begin();
    if (work_.buffers == 0) {
      for (std::uint32_t done = 0; done < rows; ++done) parts(first + done, done);
    } else {
      tiles(first, rows);
    }
    scales_->store(p_.scales, first, rows);
  }

 private:
  static constexpr bool has(std::uint64_t table) { return table != 0; }

  // With two buffers the next tile is loaded while the scalar unit has to do with this one.
  void tiles(std::uint32_t first, std::uint32_t rows) {
    const auto tile_at = [&](std::uint32_t done) {
      return vector::RowTile{std::uint64_t{first} + done, std::min(work_.piece, rows - done),
                             p_.columns, padded(p_.columns)};
    };
    unsigned loaded = load(tile_at(0), 0);
    for (std::uint32_t done = 0; done < rows; done += work_.piece) {
      const bool more = work_.piece < rows - done;
      glu(loaded, tile_at(done), done);
      if (more && kBuffers > 1) loaded = load(tile_at(done + work_.piece), 0);
      quantise(tile_at(done), done);
      if (more && kBuffers == 1) loaded = load(tile_at(done + work_.piece), 0);
    }
  }
  void quantise(const vector::RowTile& tile, std::uint32_t done) {
    const vector::Flat all(port_, tile.count()), row(port_, p_.columns);
    all.issue(VectorOp::kAbs, x_, z_);
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      const std::uint32_t at = r * tile.pitch * kOfFp32;
      vector::largest_sizes(port_, numbers_[0], x_ + at, {0, 1, tile.columns, tile.pitch});
      row.scalar(VectorOp::kMuls, z_ + at, z_ + at, factor(done + r, numbers_[0]));
    }
    store(tile, 0);
  }

  void parts(std::uint32_t row, std::uint32_t done) {
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      glu(load(tile, column), tile, done);
      vector::Flat(port_, tile.columns).issue(VectorOp::kAbs, x_, z_);
      vector::largest_sizes(port_, numbers_[column == 0 ? 1 : 0], x_, tile);
      if (column == 0) return;
      Vector v = row_vector(VectorOp::kMax, DataType::kInt32, numbers_[1], numbers_[1], 1, 1);
      v.b = numbers_[0];
      port_.issue(v);
    });
    const float by = factor(done, numbers_[1]);
    for_parts(row, [&](const vector::RowTile& tile, std::uint64_t column) {
      glu(load(tile, column), tile, done);
      vector::Flat(port_, tile.columns).scalar(VectorOp::kMuls, z_, z_, by);
      store(tile, column);
    });
  }

  template <class Run>
  void for_parts(std::uint32_t row, Run run) const {
    for (std::uint64_t first = 0; first < p_.columns; first += work_.piece) {
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(work_.piece, p_.columns - first));
      run(vector::RowTile{row, 1, count, padded(count)}, first);
    }
  }
  // The scalar unit's part of a row: its scale is kept.
  float factor(std::uint32_t row, std::uint32_t largest) const {
    const vector::ScalarTrip trip(port_);
    const float by = scales_->keep(row, trip.read(largest));
    trip.end();
    return by;
  }
  void load_tokens(std::uint32_t first, std::uint32_t rows) const {
    if (!kIntegers || !has(p_.activation_scales)) return;
    vector::load_tile(port_, tokens_, {p_.activation_scales, 1}, {first, rows, 1, 1},
                      DataType::kFp32);
    const Flag<Pipe::kMte2, Pipe::kScalar> loaded(port_, 0);
    loaded.set();
    loaded.wait();
  }
  // What is of columns.
  void load_columns(const vector::RowTile& tile, std::uint64_t column) const {
    const vector::RowTile line{0, 1, tile.columns, tile.columns};
    if (has(p_.quant_scales)) {
      vector::load_tile(port_, quant_, {p_.quant_scales, p_.columns, column}, line,
                        DataType::kFp32);
    }
    if (!kIntegers || !has(p_.weight_scales)) return;
    const std::uint64_t length = std::uint64_t{2} * p_.columns;
    for (unsigned half = 0; half < 2; ++half) {
      vector::load_tile(port_, weights_[half], {p_.weight_scales, length, begin(half) + column},
                        line, DataType::kFp32);
    }
  }
  // Where the half begins: 0 is the one that goes through silu.
  std::uint64_t begin(unsigned half) const {
    return (half == 0) == (p_.activate_left != 0) ? 0 : p_.columns;
  }

  unsigned load(const vector::RowTile& tile, std::uint64_t column) {
    const std::uint64_t length = std::uint64_t{2} * p_.columns;
    const unsigned i = stages_.begin_load();
    if (work_.buffers == 0) load_columns(tile, column);
    for (unsigned half = 0; half < 2; ++half) {
      vector::load_tile(port_, in_[i][half], {p_.from, length, begin(half) + column}, tile, kTypeA);
    }
    stages_.filled(i);
    return i;
  }
  // z = silu(a) * b * the columns' numbers.
  void glu(unsigned i, const vector::RowTile& tile, std::uint32_t done) {
    const vector::Flat all(port_, tile.count()), row(port_, tile.columns);
    stages_.take(i);
    const float token = token_of(done);
    take(in_[i][0], 0, all, token);
    all.silu(y_, x_);
    take(in_[i][1], 1, all, token);
    all.issue(VectorOp::kMul, z_, y_, x_);
    for (std::uint32_t r = 0; has(p_.quant_scales) && r < tile.rows; ++r) {
      const std::uint32_t at = z_ + r * tile.pitch * kOfFp32;
      row.issue(VectorOp::kMul, at, at, quant_);
    }
    stages_.consumed(i);
  }
  float token_of(std::uint32_t row) const {
    if (!kIntegers || !has(p_.activation_scales)) return 1;
    const std::uint32_t bits = port_.load_ub(tokens_ + row * kOfFp32);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  // x = a half as reals.
  void take(std::uint32_t in, unsigned half, const vector::Flat& all, float token) const {
    all.cast(x_, DataType::kFp32, in, kTypeA);
    if (!kIntegers) return;
    if (has(p_.weight_scales)) all.issue(VectorOp::kMul, x_, x_, weights_[half]);
    if (has(p_.activation_scales)) all.scalar(VectorOp::kMuls, x_, x_, token);
  }
  void store(const vector::RowTile& tile, std::uint64_t column) {
    const vector::Flat all(port_, tile.count());
    vector::narrow(all, z_);
    const unsigned result = stages_.begin_result();
    vector::to_int8(all, out_[result], z_);
    stages_.computed(result);
    vector::store_tile(port_, {p_.to, p_.columns, column}, tile, out_[result], DataType::kInt8);
    stages_.stored(result);
  }

  AicorePort& port_;
  const Work work_;
  const DequantSwigluQuantParams& p_;
  StagesOf<kBuffers, kBuffers> stages_;
  std::optional<vector::ScaleColumn> scales_;
  std::uint32_t in_[kBuffers][2] = {}, weights_[2] = {};  // of a and b
  std::uint32_t x_ = 0, y_ = 0, z_ = 0, quant_ = 0, tokens_ = 0;
  std::uint32_t out_[kBuffers] = {};
  std::uint32_t numbers_[2] = {};  // of a row or part; of the parts so far
};

template <unsigned kBuffers>
void blocks(AicorePort& port, const Work& work) {
  Rows<kBuffers> rows(port, work);
  aicore::for_rows(port.call(), work.params.rows, kRowsAtOnce,
                   [&](std::uint32_t first, std::uint32_t count) { rows.run(first, count); });
}

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  work.buffers == kSets ? blocks<kSets>(port, work) : blocks<1>(port, work);
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

void choose(Work& work, std::uint64_t ub, std::uint32_t cores) {
  const auto most = static_cast<std::uint32_t>((ub - kKept) / kBytes / aicore::kLocalAlignment *
                                               aicore::kLocalAlignment);
  const std::uint32_t row = padded(work.params.columns);
  work.buffers = row <= most ? 1 : 0;
  work.piece = work.buffers == 0 ? most : 1;
  if (work.buffers == 0) return;
  if (!kIntegers) {
    work.piece = std::min(most / row, aicore::divide_up(work.params.rows, cores));
    return;
  }
  constexpr std::uint32_t kShort = 1536, kSecond = 2 * kOfInput + 1;  // bytes of an element
  const bool twice = work.params.columns <= kShort && work.params.columns % 8 == 0 &&
                     work.params.activation_scales != 0;
  if (twice && std::uint64_t{row} * (kBytes + kSecond) <= ub - kKept) work.buffers = kSets;
}

void host(std::uint32_t block_num, OperatorStream& stream, const DequantSwigluQuantParams& params) {
  if (params.rows == 0) return;
  if (params.columns == 0) return stream.refuse("a row without elements has no scale");
  if (params.rows > kMostSide || params.columns > kMostSide / 2) {
    return stream.refuse("rows must be below 2^31, columns of the result below 2^30");
  }
  bool good = aligned(params.from, kTypeA);
  for (const auto address :
       {params.scales, params.weight_scales, params.activation_scales, params.quant_scales}) {
    good = good && aligned(address, DataType::kFp32);
  }
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  if (!kIntegers && (params.weight_scales != 0 || params.activation_scales != 0)) {
    return stream.refuse("only int32 has scales of weights and activations");
  }
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Work work;
  work.params = params;
  Launches launches(stream, CoreKind::kVector, block_num);
  choose(work, stream.limits().ub, launches.cores(CoreKind::kVector));
  launches.launch(CoreKind::kVector, 0U, work, params.rows);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::DequantSwigluQuantParams)
