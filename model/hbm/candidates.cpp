// SPDX-License-Identifier: Apache-2.0
// What is looked for is the least (time, age). As times beyond `floor` are mostly small, both fit
// in one lane: (time - floor) << bits of the age | age, the time saturating, and one minimum over
// all lanes finds it. Only if the least time is saturated it is looked for first and the age then.
// GCC's vector types compile to SSE2 or NEON.
#include "model/hbm/candidates.hpp"

#include <systemc>

namespace npu::model::hbm {
namespace {

constexpr int kAgeBits = 10;  // with the class
constexpr Lane kLatest = INT16_MAX >> kAgeBits;
static_assert(Candidates::kAges + Candidates::kSecondClass == 1 << kAgeBits);

LaneVector splat(Lane value) {
  return LaneVector{value, value, value, value, value, value, value, value};
}
LaneVector earlier(LaneVector a, LaneVector b) {
  return a < b ? a : b;
}
Lane lowest(LaneVector v) {
  v = earlier(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = earlier(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = earlier(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

}  // namespace

Candidates::Candidates(int lanes) : lanes_(lanes) {
  sc_assert(lanes > 0 && lanes % kBlock == 0 && lanes <= kMaxLanes);
  times_.fill(splat(kNoTime));
}

void Candidates::set_group_size(int banks) {
  for (int first = 0; first < 8; first += banks) {
    for (int bank = first; bank < std::min(first + banks, 8); ++bank) {
      groups_[static_cast<std::size_t>(first)][bank] = -1;
    }
  }
}

[[gnu::noinline]] void Candidates::rebase(Clock now) {
  const Clock shift = now - base_;
  const auto moved = [shift](Lane time) {
    return static_cast<Lane>(std::max<Clock>(time - shift, 0));
  };
  for (auto& times : times_) {
    for (int i = 0; i < 8; ++i) {
      if (times[i] != kNoTime) times[i] = moved(times[i]);
    }
  }
  for (auto& held : held_) {
    for (int i = 0; i < 8; ++i) held[i] = moved(held[i]);
  }
  base_ = now;
}

// `from`: the vector of clocks before which the candidates in a vector of lanes are not allowed.
template <std::size_t kVectors, class From>
Candidates::Found Candidates::search_lanes(Lane floor, const From& from) const {
  LaneVector first = splat(kNoTime);
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    const LaneVector delay = earlier(later(times_[v], from(v)) - floor, splat(kLatest));
    first = earlier(first, (delay << kAgeBits) + ages_[v]);
  }
  const int both = lowest(first);
  const int delay = both >> kAgeBits;
  if (delay >= kLatest) return search_late(from);
  return {base_ + floor + delay, both & ((1 << kAgeBits) - 1)};
}

template <class From>
[[gnu::noinline]] Candidates::Found Candidates::search_late(const From& from) const {
  LaneVector times = splat(kNoTime);
  for (std::size_t v = 0; v < times_.size(); ++v) times = earlier(times, later(times_[v], from(v)));
  const Lane time = lowest(times);
  if (time == kNoTime) return {kNever, -1};
  LaneVector ages = splat(kNoTime);
  for (std::size_t v = 0; v < times_.size(); ++v) {
    ages = earlier(ages, later(times_[v], from(v)) == time ? ages_[v] : splat(kNoTime));
  }
  return {base_ + time, lowest(ages)};
}

// Lanes that there are not have no candidates.
template <class From>
Candidates::Found Candidates::search(Lane floor, const From& from) const {
  if (lanes_ <= 64) return search_lanes<8>(floor, from);
  return search_lanes<kMaxLanes / 8>(floor, from);
}

Candidates::Found Candidates::first_row(Clock floor, int handicap) const {
  const LaneVector zeros = splat(relative(floor));
  if (handicap == 0) {
    return search(relative(floor), [&](std::size_t) { return zeros; });
  }
  const LaneVector ones = splat(relative(floor + handicap));
  return search(relative(floor), [&](std::size_t v) { return later(zeros, ones & ones_[v]); });
}

Candidates::Found Candidates::first_column(Clock floor, bool ones) const {
  const LaneVector from = splat(relative(floor));
  const LaneVector zero = later(from, held_[0]);
  const auto block = [](std::size_t v) { return v * 8 / kBlock; };
  if (!ones) {
    return search(relative(floor), [&](std::size_t v) { return splat(zero[block(v)]); });
  }
  const LaneVector one = later(from, held_[1]);
  return search(relative(floor), [&](std::size_t v) {
    return (splat(zero[block(v)]) & ~ones_[v]) | (splat(one[block(v)]) & ones_[v]);
  });
}

}  // namespace npu::model::hbm
