// SPDX-License-Identifier: Apache-2.0
// The picks over all banks, eight lanes at a time. GCC's vector types compile to SSE2 or NEON.
//
// What is looked for is the least (time, age). As times beyond `floor` are mostly small, both fit
// in one lane: (time - floor) << bits of the age | age, the time saturating, and one minimum over
// all lanes finds it. Only if the least time is saturated, or there is no candidate, the times and
// then the ages of the earliest are compared in full.
#include <array>
#include <utility>

#include "model/hbm/bank_lanes.hpp"

namespace npu::model::hbm {
namespace {

using Vector = LaneVector;
constexpr int kWidth = 8;
constexpr int kVectorsPerBlock = BankLanes::kBlock / kWidth;
constexpr std::size_t block_of(int vector) {
  return static_cast<std::size_t>(vector / kVectorsPerBlock);
}

// Ages in the low bits, time above, and the sign bit clear.
struct Packed {
  int age_bits;
  constexpr Lane latest() const { return static_cast<Lane>(kNoTime >> age_bits); }
};
constexpr Packed kRow{9};
constexpr Packed kColumn{10};
static_assert(BankLanes::kAges == 1 << kRow.age_bits);
static_assert(2 * BankLanes::kSecondClass == 1 << kColumn.age_bits);

Vector splat(Lane value) {
  return Vector{value, value, value, value, value, value, value, value};
}

Vector max(Vector a, Vector b) {
  return a > b ? a : b;
}
Vector min(Vector a, Vector b) {
  return a < b ? a : b;
}

Lane lowest(Vector v) {
  v = min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

// What each block must wait for at least: its own limit, spread over eight lanes, and `from`.
template <std::size_t... kBlock>
std::array<Vector, sizeof...(kBlock)> spread(Vector per_block, Vector from,
                                             std::index_sequence<kBlock...>) {
  return {max(__builtin_shufflevector(per_block, per_block, kBlock, kBlock, kBlock, kBlock, kBlock,
                                      kBlock, kBlock, kBlock),
              from)...};
}

struct Least {
  Lane time;  // kNoTime: there is none
  Lane age;
};

// The least time of `count` vectors, and the least age of those that have it.
[[gnu::noinline]] Least least_in_full(const Vector* times, const Vector* ages, int count) {
  Vector earliest = times[0];
  for (int i = 1; i < count; ++i) earliest = min(earliest, times[i]);
  const Vector wanted = splat(lowest(earliest));
  Vector oldest = splat(kNoTime);
  for (int i = 0; i < count; ++i) {
    const Vector others = (times[i] != wanted) & kNoTime;
    oldest = min(oldest, ages[i] | others);
  }
  return {wanted[0], lowest(oldest)};
}

// The same, where time_of(i) gives the i-th vector of times, none before `from`.
template <int kVectors, class TimeOf>
[[gnu::always_inline]] inline Least least(Packed packed, Vector from, const Vector* ages,
                                          const TimeOf& time_of) {
  const Vector latest = from + packed.latest();
  Vector first = splat(kNoTime);
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    const Vector delay = min(time_of(i), latest) - from;
    first = min(first, (delay << packed.age_bits) + ages[i]);
  }
  const int both = lowest(first);
  const int delay = both >> packed.age_bits;
  if (delay < packed.latest()) {
    return {static_cast<Lane>(from[0] + delay),
            static_cast<Lane>(both & ((1 << packed.age_bits) - 1))};
  }
  Vector times[kVectors];
  for (int i = 0; i < kVectors; ++i) times[i] = time_of(i);
  return least_in_full(times, ages, kVectors);
}

}  // namespace

template <int kBlocks, bool kHandicap>
Pick BankLanes::row_pick(Clock floor, Lane handicap) const {
  const Vector from = splat(relative(floor));
  const auto act_from = spread(block_act, from, std::make_index_sequence<kBlocks>());
  const auto time_of = [&](int i) {
    Vector act_time = max(act.offers(i), act_from[block_of(i)]);
    if constexpr (kHandicap) {
      const Vector later = splat(handicap);
      act_time = min(act_time, splat(kNoTime) - later) + later;
    }
    return min(act_time, max(pre.offers(i), from));
  };
  const Least found = least<kBlocks * kVectorsPerBlock>(kRow, from, row_age.lanes.data(), time_of);
  if (found.time == kNoTime) return {};
  return Pick::at(absolute(found.time), found.age, lane_of(found.age));
}

template <int kBlocks, bool kWrites>
Pick BankLanes::column_pick(Clock floor) const {
  const Vector from = splat(relative(floor));
  const auto read_from = spread(block_read, from, std::make_index_sequence<kBlocks>());
  const auto time_of = [&](int i) {
    Vector time = max(read.offers(i), read_from[block_of(i)]);
    if constexpr (kWrites) {
      const auto write_from = spread(block_write, from, std::make_index_sequence<kBlocks>());
      time = min(time, max(write.offers(i), write_from[block_of(i)]));
    }
    return time;
  };
  const Least found =
      least<kBlocks * kVectorsPerBlock>(kColumn, from, column_age.lanes.data(), time_of);
  if (found.time == kNoTime) return {};
  return Pick::at(absolute(found.time), found.age, lane_of(found.age));
}

// Lanes beyond lanes() hold no candidates.
Pick BankLanes::pick_row(Clock floor, int act_handicap) const {
  const auto handicap = static_cast<Lane>(act_handicap);
  if (handicap != 0) {
    return blocks() <= 4 ? row_pick<4, true>(floor, handicap) : row_pick<8, true>(floor, handicap);
  }
  if (blocks() <= 2) return row_pick<2, false>(floor, 0);
  return blocks() <= 4 ? row_pick<4, false>(floor, 0) : row_pick<8, false>(floor, 0);
}

Pick BankLanes::pick_column(Clock floor, bool writes) const {
  if (writes) {
    return blocks() <= 4 ? column_pick<4, true>(floor) : column_pick<8, true>(floor);
  }
  if (blocks() <= 2) return column_pick<2, false>(floor);
  return blocks() <= 4 ? column_pick<4, false>(floor) : column_pick<8, false>(floor);
}

}  // namespace npu::model::hbm
