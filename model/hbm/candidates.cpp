// SPDX-License-Identifier: Apache-2.0
// What is looked for is the least (time, age). On a busy bus it is the oldest of those that are
// allowed at `floor`; if there are any, one maximum over what is left of (kFirst - age) when all
// others are blanked out finds it. Otherwise, as times beyond `floor` are mostly small, both fit in
// one lane: (time - floor) << bits of the age | age, the time saturating, and one minimum finds it.
// Only if the least time is saturated it is looked for first and the age then. GCC's vector types
// compile to SSE2 or NEON.
#include "model/hbm/candidates.hpp"

#include <systemc>

namespace npu::model::hbm {
namespace {

constexpr int kAgeBits = 9;
constexpr Lane kLatest = INT16_MAX >> kAgeBits;
static_assert(Candidates::kAges == 1 << kAgeBits);

LaneVector splat(Lane value) {
  return LaneVector{value, value, value, value, value, value, value, value};
}
LaneVector earlier(LaneVector a, LaneVector b) {
  return a < b ? a : b;
}
// In all lanes.
LaneVector highest(LaneVector v) {
  v = later(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = later(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  return later(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
}
Lane lowest(LaneVector v) {
  v = earlier(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = earlier(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = earlier(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

}  // namespace

const std::array<LaneVector, Candidates::kMaxLanes / 8> Candidates::kLaneOf = [] {
  std::array<LaneVector, kMaxLanes / 8> numbers{};
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    numbers[vector(lane)][lane % 8] = static_cast<Lane>(lane);
  }
  return numbers;
}();

Candidates::Candidates(int lanes) : lanes_(lanes) {
  sc_assert(lanes > 0 && lanes % kBlock == 0 && lanes <= kMaxLanes);
  times_.fill(splat(kNoTime));
}

void Candidates::set_group_size(int banks) {
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    group_of_[vector(lane)][lane % 8] = static_cast<Lane>(lane / banks);
  }
}

void Candidates::lower_ages(int less) {
  const LaneVector more = splat(static_cast<Lane>(2 * less));
  for (std::size_t v = 0; v < times_.size(); ++v) {
    precedences_[v] = (precedences_[v] + more) & (times_[v] != splat(kNoTime));
  }
}

[[gnu::noinline]] void Candidates::rebase(Clock now) {
  // No time is negative, so that none is below that of the lane type afterwards.
  const auto shift = static_cast<Lane>(std::min<Clock>(now - base_, kNoTime));
  const auto moved = [shift](LaneVector times) { return later(times - shift, LaneVector{}); };
  for (std::size_t v = 0; v < vector(lanes_); ++v) {
    times_[v] = moved(times_[v]) | (kNoTime & (times_[v] == kNoTime));
  }
  base_ = now;
}

// The highest precedence of the candidates that are allowed at the clocks `until`, a vector for
// each vector of lanes (kNotYet: none is); 0: there is none.
template <class Until>
Candidates::Foremost Candidates::foremost(const Until& until) const {
  // By halves, so that one comparison need not wait for the other.
  const auto at = [&](std::size_t v) { return precedences_[v] & ~(times_[v] > until(v)); };
  const auto of_four = [&](std::size_t v) {
    return later(later(at(v), at(v + 1)), later(at(v + 2), at(v + 3)));
  };
  LaneVector first = later(of_four(0), of_four(4));
  if (lanes_ > 64) first = later(first, later(of_four(8), of_four(12)));  // absent: no candidates
  return {highest(first)};
}

// `from`: the vector of clocks before which the candidates in a vector of lanes are not allowed.
template <std::size_t kVectors, class From>
Candidates::Found Candidates::search_lanes(Lane floor, const From& from) const {
  LaneVector first = splat(kNoTime);
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    const LaneVector delay = earlier(later(times_[v], from(v)) - floor, splat(kLatest));
    first = earlier(first, (delay << kAgeBits) - (precedences_[v] >> 1));
  }
  const int both = lowest(first);  // (delay - 1) << bits | age
  const int delay = (both >> kAgeBits) + 1;
  if (delay >= kLatest) return search_late(from);
  return {base_ + floor + delay, both & ((1 << kAgeBits) - 1)};
}

template <class From>
[[gnu::noinline]] Candidates::Found Candidates::search_late(const From& from) const {
  LaneVector times = splat(kNoTime);
  for (std::size_t v = 0; v < times_.size(); ++v) times = earlier(times, later(times_[v], from(v)));
  const Lane time = lowest(times);
  if (time == kNoTime) return {kNever, -1};
  LaneVector first{};
  for (std::size_t v = 0; v < times_.size(); ++v) {
    first = later(first, (later(times_[v], from(v)) == time) & precedences_[v]);
  }
  return {base_ + time, age_of(highest(first)[0])};
}

// Lanes that there are not have no candidates.
template <class From>
[[gnu::noinline]] Candidates::Found Candidates::search(Lane floor, const From& from) const {
  if (lanes_ <= 64) return search_lanes<8>(floor, from);
  return search_lanes<kMaxLanes / 8>(floor, from);
}

Candidates::Found Candidates::first_row(Clock earliest, int handicap) const {
  const Lane floor = relative(earliest);
  const LaneVector zeros = splat(floor);
  static_assert(kNotYet == -1);  // all bits set
  const int age =
      (handicap == 0 ? foremost([&](std::size_t) { return zeros; }) : foremost([&](std::size_t v) {
        return zeros | ones_[v];
      })).age();
  if (age >= 0) return {earliest, age};
  const LaneVector ones = splat(relative(earliest + handicap));
  return search(floor, [&](std::size_t v) { return later(zeros, ones & ones_[v]); });
}

Candidates::Foremost Candidates::another_row(Clock at, const Foremost& but) const {
  const LaneVector floor = splat(relative(at));
  return foremost([&](std::size_t v) { return floor | (precedences_[v] == but.precedence); });
}

Candidates::Foremost Candidates::another_row(Clock at, const Foremost& but,
                                             const Lanes& without) const {
  const LaneVector floor = splat(relative(at));
  return foremost([&](std::size_t v) {
    return floor | (precedences_[v] == but.precedence) | (ones_[v] & without[v]);
  });
}

Candidates::Lanes Candidates::lanes(int first, int count) {
  Lanes set{};
  for (int lane = first; lane < first + count; ++lane) set[vector(lane)][lane % 8] = -1;
  return set;
}

}  // namespace npu::model::hbm
