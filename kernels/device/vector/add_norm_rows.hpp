// SPDX-License-Identifier: Apache-2.0
// x1 + x2 and each row of it by the root of the mean of its squares, in instructions on UB, step by
// step as AddRmsNorm of the library does it (docs/sources/operators.md B5): rows of bf16 are
// rounded before gamma, and those of halves before they are squared. These are multiplied by gamma
// in fp32, where the library does it in halves. Rows that fit into UB.
#pragma once

#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/params.hpp"

namespace npu::kernels::vector {

// What a tile is.
enum class NormTiles : std::uint32_t {
  kParts,  // a part of a row
  kWhole,  // rows of AddRmsNormDynamicQuant
  kRow,    // a row; the next one is loaded when the vector unit is done with it
  kOnly,   // the one row of a core: gamma comes behind it, where x2 was
  kFew,    // some rows of halves, each added up by itself
  kMany,   // short rows, added up together
};

struct NormTile {
  NormTiles kind = NormTiles::kParts;
  std::uint32_t rows = 0;
};

// Of tiles of several rows the next one is loaded while this one is computed.
template <bool kSeveral>
class AddNormRows {
 public:
  AddNormRows(AicorePort& port, const operators::AddRmsNormParams& params, const NormTile& largest)
      : port_(port), p_(params), kind_(largest.kind), stages_(port) {
    const std::uint32_t count = largest.rows * padded();
    aicore::UbParts ub;
    in_ = ub.take(2 * count * kOf);
    for (std::uint32_t& at : out_) at = ub.take(count * kOf);
    x_ = kNarrow ? ub.take(count * kFp32) : in_;
    y_ = ub.take(count * kFp32);
    gamma_ = ub.take(padded() * kOf);
    sums_ = ub.take(sums_of(kind_, largest.rows) * kRepeat * kFp32);
    numbers_ = ub.take(largest.rows * number_pitch());
    ones_ = ub.take(largest.rows * number_pitch());
    if (kind_ != NormTiles::kOnly) load_gamma();
  }

  // The largest tile in UB when a core has so many rows.
  static NormTile choose(std::uint32_t columns, std::uint32_t share, std::uint64_t ub) {
    constexpr std::uint64_t kReserved = 1024, kShort = 2000, kLongest = kNarrow ? 12'288 : 10'240;
    const std::uint64_t row = padded(columns);
    NormTile tile{share == 1 ? NormTiles::kOnly : NormTiles::kRow, 1};
    if (columns > kLongest || space(row, tile) > ub) return {};
    if (share == 1) return tile;
    std::uint64_t rows = 0;
    if (row <= kShort) {
      tile.kind = NormTiles::kMany;
      rows = (ub - kReserved) / (row * (kNarrow ? 18 : 24) + 260);
    } else if (kHalf && row == columns && ub > kReserved + 256 + 2 * row) {
      rows = (ub - kReserved - 256 - 2 * row) / (16 * row + 64);
      if (rows != 0) tile.kind = NormTiles::kFew;
    }
    tile.rows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, 1, share));
    if (space(row, tile) > ub) tile = {NormTiles::kRow, 1};
    return tile;
  }

  void tile(std::uint32_t first, std::uint32_t rows) {
    const RowTile tile{first, rows, p_.columns, padded()};
    if (made_for_ != rows) make_steps(tile);
    const unsigned i = stages_.begin_load();
    load_tile(port_, in_, {p_.x1, p_.columns}, tile, kTypeA);
    load_tile(port_, in_ + tile.count() * kOf, {p_.x2, p_.columns}, tile, kTypeA);
    stages_.loaded(i);
    sum_.issue(port_);
    const unsigned set = stages_.begin_result();
    rounded_sum_.issue(port_);
    if (kSeveral && kNarrow) stages_.consumed(i);
    if (kind_ == NormTiles::kOnly) ask_for_gamma(i);
    stages_.computed(set);
    store_tile(port_, {p_.sum, p_.columns}, tile, out_[0], kTypeA);
    stages_.stored(set);
    squares_.issue(port_);
    find_roots(tile);
    finish(i, tile);
  }

 private:
  static constexpr std::uint32_t kOf = size_of(kTypeA), kFp32 = 4;  // bytes
  static constexpr bool kHalf = kTypeA == DataType::kFp16;
  static constexpr bool kNarrow = kTypeA != DataType::kFp32;
  static constexpr unsigned kResults = kSeveral ? kSets : 1;

  static std::uint32_t padded(std::uint32_t columns) {
    return aicore::round_up(columns, aicore::kLocalAlignment / kOf);
  }
  std::uint32_t padded() const { return padded(p_.columns); }
  // Bytes of UB, rows of so many elements each.
  static std::uint64_t space(std::uint64_t row, const NormTile& tile) {
    const bool one = tile.kind == NormTiles::kRow || tile.kind == NormTiles::kOnly;
    const std::uint64_t each = (one ? 3 : 4) * kOf + (kNarrow ? 2 : 1) * kFp32;
    const auto numbers = aicore::round_up<std::uint64_t>(tile.rows * number_pitch(tile.kind),
                                                         aicore::kLocalAlignment);
    const std::uint64_t sums = sums_of(tile.kind, tile.rows) * kRepeat * kFp32;
    return tile.rows * row * each + row * kOf + sums + 2 * numbers;
  }
  // Lanes that rows come together in.
  static std::uint32_t sums_of(NormTiles kind, std::uint32_t rows) {
    return kind == NormTiles::kMany ? rows : 1;
  }
  // Where each row is added up by itself, its number has a block.
  static std::uint32_t number_pitch(NormTiles kind) {
    return kind == NormTiles::kMany ? kFp32 : aicore::kLocalAlignment;
  }
  std::uint32_t number_pitch() const { return number_pitch(kind_); }
  // Whether x is what was stored, and not the sum before it was rounded.
  bool squares_what_is_stored() const { return kHalf || (kNarrow && kind_ != NormTiles::kRow); }
  // Results follow the sum in the same set, or in the other one of two.
  std::uint32_t to() const { return out_[kResults - 1]; }
  // Where fp32 rows by their roots go.
  std::uint32_t scaled() const { return kNarrow ? x_ : to(); }

  void load_gamma() const {
    if (p_.gamma == 0) return;
    load_tile(port_, gamma_, {p_.gamma, p_.columns}, {0, 1, p_.columns, p_.columns}, kTypeA);
  }
  void ask_for_gamma(unsigned i) {
    if (p_.gamma == 0) return;
    stages_.consumed(i);
    stages_.begin_load();
    load_gamma();
    stages_.filled(i);
  }

  // What is the same for all tiles of so many rows.
  void make_steps(const RowTile& tile) {
    made_for_ = tile.rows;
    const std::uint32_t count = tile.count(), second = in_ + count * kOf;
    sum_.clear(), rounded_sum_.clear(), squares_.clear(), roots_.clear(), scale_.clear();
    if (kHalf) {
      Vector& add = rounded_sum_.add(row_vector(VectorOp::kAdd, kTypeA, out_[0], in_, 1, count));
      add.b = second;
    } else if (kNarrow) {
      sum_.cast(x_, DataType::kFp32, in_, kTypeA, count);
      sum_.cast(y_, DataType::kFp32, second, kTypeA, count);
      sum_.add(VectorOp::kAdd, x_, x_, y_, count);
      rounded_sum_.cast(out_[0], kTypeA, x_, DataType::kFp32, count);
    } else {
      sum_.add(VectorOp::kAdd, x_, in_, second, count);
      rounded_sum_.add(VectorOp::kAdds, out_[0], x_, 0, count);
    }
    if (squares_what_is_stored()) squares_.cast(x_, DataType::kFp32, out_[0], kTypeA, count);
    squares_.add(VectorOp::kMul, y_, x_, x_, count);
    squares_.add(VectorOp::kMuls, y_, y_, 0, count, 1.0F / static_cast<float>(p_.columns));
    add_root(tile.rows, VectorOp::kAdds, numbers_, p_.epsilon);
    add_root(tile.rows, VectorOp::kSqrt, numbers_);
    add_root(tile.rows, VectorOp::kDuplicate, ones_, 1);
    add_root(tile.rows, VectorOp::kDiv, ones_).to = numbers_;
    if (!kSeveral) scale_.add(VectorOp::kMuls, scaled(), x_, 0, count);
    make_results(count);
  }
  // On the rows' numbers.
  Vector& add_root(std::uint32_t rows, VectorOp op, std::uint32_t at, float scalar = 0) {
    const bool dense = kind_ == NormTiles::kMany;
    Vector& v =
        roots_.add(row_vector(op, DataType::kFp32, at, at, dense ? 1 : rows, dense ? rows : 1));
    v.b = numbers_;
    v.b_pitch = v.a_pitch;
    v.scalar = scalar;
    return v;
  }
  void make_results(std::uint32_t count) {
    narrow_.clear(), widen_.clear(), result_.clear();
    if (!kNarrow) return;
    if (!kHalf || p_.gamma == 0) narrow_.cast(to(), kTypeA, x_, DataType::kFp32, count);
    if (p_.gamma == 0) return;
    if (!kHalf) widen_.cast(x_, DataType::kFp32, to(), kTypeA, count);
    widen_.cast(y_, DataType::kFp32, gamma_, kTypeA, p_.columns);
    result_.cast(to(), kTypeA, x_, DataType::kFp32, count);
  }

  // All repeats of a row are added to the same lanes, each to what the one before left.
  void add_up(std::uint32_t row, std::uint32_t number) const {
    const Flat lanes(port_, kRepeat);
    lanes.scalar(VectorOp::kDuplicate, sums_, 0, 0);
    Vector v = row_vector(VectorOp::kAdd, DataType::kFp32, sums_, sums_, 1, kRepeat);
    for (std::uint32_t left = p_.columns; left != 0; left -= v.count) {
      v.count = std::min(left, kRepeat);
      v.b = row;
      port_.issue(v);
      row += kRepeat * kFp32;
    }
    v = row_vector(VectorOp::kReduceSum, DataType::kFp32, number, sums_, 1, kRepeat);
    v.to_pitch = 0;
    port_.issue(v);
  }
  // A repeat of each row after the other, to the row's own lanes.
  void add_up_together(const RowTile& tile) const {
    Flat(port_, tile.rows * kRepeat).scalar(VectorOp::kDuplicate, sums_, 0, 0);
    Vector v = row_vector(VectorOp::kAdd, DataType::kFp32, sums_, sums_, tile.rows, kRepeat);
    v.to_pitch = v.a_pitch = kRepeat * kFp32;
    v.b_pitch = tile.pitch * kFp32;
    v.b = y_;
    for (std::uint32_t left = tile.columns; left != 0; left -= v.count) {
      v.count = std::min(left, kRepeat);
      port_.issue(v);
      v.b += kRepeat * kFp32;
    }
    v = row_vector(VectorOp::kReduceSum, DataType::kFp32, numbers_, sums_, tile.rows, kRepeat);
    v.to_pitch = 0;
    port_.issue(v);
  }
  void find_roots(const RowTile& tile) {
    for (std::uint32_t r = 0; kind_ != NormTiles::kMany && r < tile.rows; ++r) {
      add_up(y_ + r * tile.pitch * kFp32, numbers_ + r * number_pitch());
    }
    if (kind_ == NormTiles::kMany) add_up_together(tile);
    roots_.issue(port_);
    if (kSeveral) return;
    const ScalarTrip trip(port_);
    scale_.last().scalar = trip.read(numbers_);
    trip.end();
  }

  void scale(const RowTile& tile) const {
    if (!kSeveral) return scale_.issue(port_);
    const bool dense = kind_ == NormTiles::kMany;
    const std::uint32_t each = dense ? tile.rows : 1;
    Vector v = row_vector(VectorOp::kBroadcastMul, DataType::kFp32, 0, 0, each, tile.columns);
    v.to_pitch = v.a_pitch = tile.pitch * kFp32;
    for (std::uint32_t r = 0; r < tile.rows; r += each) {
      v.to = scaled() + r * tile.pitch * kFp32;
      v.a = x_ + r * tile.pitch * kFp32;
      v.b = numbers_ + r * number_pitch();
      port_.issue(v);
    }
  }
  void finish(unsigned i, const RowTile& tile) {
    const bool only = kind_ == NormTiles::kOnly && p_.gamma != 0;
    if (kNarrow) scale(tile);
    const unsigned set = stages_.begin_result();
    if (!kNarrow) scale(tile);
    if (!kNarrow && !only) stages_.consumed(i);
    narrow_.issue(port_);
    if (only) stages_.take(i);
    if (p_.gamma != 0) by_gamma(tile);
    if (only || (kNarrow && !kSeveral)) stages_.consumed(i);
    stages_.computed(set);
    store_tile(port_, {p_.to, p_.columns}, tile, to(), kTypeA);
    stages_.stored(set);
  }
  void by_gamma(const RowTile& tile) const {
    widen_.issue(port_);
    Vector v = row_vector(VectorOp::kMul, DataType::kFp32, 0, 0, 1, tile.columns);
    v.b = kNarrow ? y_ : gamma_;
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      v.to = v.a = scaled() + r * tile.pitch * kFp32;
      port_.issue(v);
    }
    result_.issue(port_);
  }

  AicorePort& port_;
  const operators::AddRmsNormParams& p_;
  const NormTiles kind_;
  StagesOf<1, kResults> stages_;
  std::uint32_t in_ = 0, out_[kResults] = {}, x_ = 0, y_ = 0, gamma_ = 0;
  std::uint32_t sums_ = 0, numbers_ = 0, ones_ = 0;
  std::uint32_t made_for_ = 0;  // rows
  VectorList<3> sum_, squares_;
  VectorList<1> rounded_sum_, scale_, narrow_, result_;
  VectorList<2> widen_;
  VectorList<4> roots_;
};

}  // namespace npu::kernels::vector
