// SPDX-License-Identifier: Apache-2.0
// Where the first largest or smallest element of each row is, in instructions on UB, step by step
// as ArgMaxV2 of the library does it (docs/sources/operators.md B5): rows one after the other, in
// segments that are loaded when the scalar unit is done with the one before. What is no number
// comes first: the vector unit looks for it in the segment before while it waits for the load.
#pragma once

#include "kernels/device/vector/row_tile.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::kernels::vector {

struct SegmentRows {
  std::uint64_t from = 0, places = 0;
  std::uint64_t columns = 0;
  std::uint32_t rows = 0;
  std::uint32_t share = 0;  // rows of a core
};

template <bool kSmallest>
class RowSegments {
 public:
  // Rows of a core; 0: another kernel does them. Places are written in whole blocks.
  static std::uint32_t share(const operators::CoreLimits& limits, std::uint32_t rows,
                             std::uint64_t columns, std::uint32_t cores) {
    constexpr std::uint32_t kGrain = aicore::kLocalAlignment / size_of(kTypeA);
    constexpr std::uint64_t kShort = 2 * kLanes;  // rows that go together
    constexpr Bytes kSpace = kSegment * (kSets * kOf + (kConverted ? size_of(kTypeA) : 0)) +
                             kMostRows * kInt + 8 * 1024;  // of UB, at least
    if (limits.vector_functions || limits.ub < kSpace || columns <= kShort) return 0;
    return aicore::round_up(aicore::divide_up(rows, rows < kGrain ? 1 : cores), kGrain);
  }

  RowSegments(AicorePort& port, const SegmentRows& work) : port_(port), work_(work) {
    aicore::UbParts ub;
    for (std::uint32_t& at : in_) at = ub.take(kSegment * kOf);
    raw_ = kConverted ? ub.take(kSegment * size_of(kTypeA)) : 0;
    found_ = ub.take(kMostRows * kInt);
    repeats_ = ub.take(kSegment / kLanes * kOf);
    spread_ = ub.take(kSegment / kLanes * kOf);
    for (auto* at : {&number_, &wide_, &mask_, &lanes_}) *at = ub.take(aicore::kLocalAlignment);
    nans_ = ub.take(kSegment / 8);
    for (std::uint32_t& at : nan_words_) at = ub.take(aicore::kLocalAlignment);
  }

  void run() {
    const std::uint32_t begin = port_.call().block * work_.share;
    const std::uint32_t end = begin + std::min(work_.share, work_.rows - begin);
    for (first_ = begin; first_ < end; first_ += kMostRows) {
      const std::uint32_t rows = std::min(kMostRows, end - first_);
      for (row_ = 0; row_ < rows; ++row_) find_row();
      if (checked_.repeats != 0) {
        check();
        await_vector();
        read_check();
        ScalarTrip(port_).end();
      }
      store(rows);
    }
  }

 private:
  static constexpr bool kHalf = kTypeA == DataType::kFp16, kConverted = kTypeA == DataType::kBf16;
  static constexpr DataType kUnit = kHalf ? kTypeA : DataType::kFp32;
  static constexpr std::uint32_t kOf = size_of(kUnit), kInt = 4;  // bytes
  static constexpr std::uint32_t kLanes = 256 / kOf;              // elements of a repeat
  static constexpr std::uint32_t kSegment = kHalf ? 24'576 : 8192;
  static constexpr std::uint32_t kMostRows = 8192, kBits = 32;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr VectorOp kFirst = kSmallest ? VectorOp::kReduceMin : VectorOp::kReduceMax;
  static constexpr float kLast = kSmallest ? __builtin_inff() : -__builtin_inff();

  // A segment that was not yet looked through for what is no number.
  struct Checked {
    std::uint32_t repeats = 0;  // 0: there is none
    std::uint32_t at = 0, row = 0;
    std::uint64_t column = 0;
  };

  void find_row() {
    best_ = kLast, place_ = 0;
    for (std::uint64_t column = 0; column < work_.columns; column += kSegment) {
      segment(column, static_cast<std::uint32_t>(
                          std::min<std::uint64_t>(kSegment, work_.columns - column)));
    }
    if (nan_row_ != first_ + row_) port_.store_ub(found_ + row_ * kInt, place_);
  }

  void segment(std::uint64_t column, std::uint32_t count) {
    const std::uint32_t at = in_[turn_ ^= 1U], repeats = aicore::divide_up(count, kLanes);
    load(at, column, count);
    const bool checks = checked_.repeats != 0;
    if (checks) check();
    loaded().wait();
    if (kConverted) convert_rows(port_, at, DataType::kFp32, raw_, kTypeA, 1, count);
    reduce(kFirst, kUnit, repeats_, at, repeats, kLanes);
    reduce(kFirst, kUnit, number_, repeats_, 1, repeats);
    if (kHalf) convert_rows(port_, wide_, DataType::kFp32, number_, kUnit, 1, 1);
    Vector v = row_vector(VectorOp::kBroadcast, kUnit, spread_, 0, 1, repeats);
    v.b = number_;
    port_.issue(v);
    compare(platform::Comparison::kEqual, mask_, repeats_, spread_, repeats);
    const ScalarTrip trip(port_);
    const float number = trip.read(kHalf ? wide_ : number_);
    const std::uint32_t repeat = first_bit(mask_, aicore::divide_up(repeats, kBits));
    if (checks) read_check();
    trip.end();
    const std::uint32_t lane = find_lane(at + std::min(repeat, repeats - 1) * kLanes * kOf, number);
    if (lane != kNone && repeat != kNone && (kSmallest ? number < best_ : number > best_)) {
      best_ = number;
      place_ = static_cast<std::uint32_t>(column) + repeat * kLanes + lane;
    }
    checked_ = {repeats, at, first_ + row_, column};
  }

  void load(std::uint32_t at, std::uint64_t column, std::uint32_t count) const {
    const std::uint32_t tail = count % kLanes;
    if (tail != 0) {
      Vector v = row_vector(VectorOp::kDuplicate, kUnit, at + (count - tail) * kOf, 0, 1, kLanes);
      v.scalar = kLast;
      port_.issue(v);
      const Flag<Pipe::kVector, Pipe::kMte2> filled(port_, 0);
      filled.set();
      filled.wait();
    }
    load_tile(port_, kConverted ? raw_ : at, {work_.from, work_.columns, column},
              {first_ + row_, 1, count, count}, kTypeA);
    loaded().set();
  }
  Flag<Pipe::kMte2, Pipe::kVector> loaded() const { return {port_, 0}; }

  void reduce(VectorOp op, DataType type, std::uint32_t to, std::uint32_t a, std::uint32_t rows,
              std::uint32_t count) const {
    Vector v = row_vector(op, type, to, a, rows, count);
    v.to_pitch = 0;
    port_.issue(v);
  }
  void compare(platform::Comparison comparison, std::uint32_t to, std::uint32_t a, std::uint32_t b,
               std::uint32_t count) const {
    Vector v = row_vector(VectorOp::kCompare, kUnit, to, a, 1, count);
    v.comparison = comparison;
    v.to_pitch = 0;
    v.b = b;
    port_.issue(v);
  }
  // Where in a repeat the number is.
  std::uint32_t find_lane(std::uint32_t at, float number) const {
    Vector v = row_vector(VectorOp::kCompares, kUnit, lanes_, at, 1, kLanes);
    v.comparison = platform::Comparison::kEqual;
    v.to_pitch = 0;
    v.scalar = number;
    port_.issue(v);
    await_vector();
    const std::uint32_t lane = first_bit(lanes_, kLanes / kBits);
    ScalarTrip(port_).end();
    return lane;
  }
  void await_vector() const {
    const Flag<Pipe::kVector, Pipe::kScalar> done(port_, 0);
    done.set();
    done.wait();
  }
  std::uint32_t first_bit(std::uint32_t at, std::uint32_t words) const {
    for (std::uint32_t i = 0; i < words; ++i) {
      const std::uint32_t word = port_.load_ub(at + i * kInt);
      if (word != 0) return i * kBits + static_cast<std::uint32_t>(__builtin_ctz(word));
    }
    return kNone;
  }

  // Words of the mask as integers: other than 0 upwards or downwards.
  void check() const {
    compare(platform::Comparison::kNotEqual, nans_, checked_.at, checked_.at,
            checked_.repeats * kLanes);
    const std::uint32_t words = checked_.repeats * kLanes / kBits;
    reduce(VectorOp::kReduceMax, DataType::kInt32, nan_words_[0], nans_, 1, words);
    reduce(VectorOp::kReduceMin, DataType::kInt32, nan_words_[1], nans_, 1, words);
  }
  // The first one of a row is its place.
  void read_check() {
    const Checked segment = checked_;
    checked_.repeats = 0;
    const bool any = (port_.load_ub(nan_words_[0]) | port_.load_ub(nan_words_[1])) != 0;
    if (any && nan_row_ != segment.row) {
      nan_row_ = segment.row;
      const std::uint32_t at = first_bit(nans_, segment.repeats * kLanes / kBits);
      port_.store_ub(found_ + (segment.row - first_) * kInt,
                     static_cast<std::uint32_t>(segment.column) + at);
    }
  }

  void store(std::uint32_t rows) const {
    const Flag<Pipe::kScalar, Pipe::kMte3> made(port_, 0);
    made.set();
    made.wait();
    store_numbers(port_, work_.places, first_, found_, rows);
    const Flag<Pipe::kMte3, Pipe::kScalar> stored(port_, 0);
    stored.set();
    stored.wait();
  }

  AicorePort& port_;
  const SegmentRows work_;
  std::uint32_t in_[kSets] = {}, raw_ = 0, found_ = 0;
  std::uint32_t repeats_ = 0, spread_ = 0;  // the first of each repeat; that of the segment
  std::uint32_t number_ = 0, wide_ = 0, mask_ = 0, lanes_ = 0, nans_ = 0, nan_words_[2] = {};
  std::uint32_t turn_ = 0, first_ = 0, row_ = 0;
  Checked checked_;
  std::uint32_t nan_row_ = kNone;
  float best_ = 0;
  std::uint32_t place_ = 0;
};

}  // namespace npu::kernels::vector
