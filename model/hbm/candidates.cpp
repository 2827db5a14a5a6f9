// SPDX-License-Identifier: Apache-2.0
// What is looked for is the least (time, age). As times beyond `floor` are mostly small, both fit
// in one lane: (time - floor) << bits of the age | age, the time saturating, and one minimum over
// all lanes finds it. Only if the least time is saturated the candidates are compared in full.
// GCC's vector types compile to SSE2 or NEON.
#include "model/hbm/candidates.hpp"

#include <systemc>

namespace npu::model::hbm {
namespace {

static_assert(Candidates::kAges == 1 << 9 && Candidates::kSecondClass == 1 << 9);

LaneVector splat(Lane value) {
  return LaneVector{value, value, value, value, value, value, value, value};
}
LaneVector max(LaneVector a, LaneVector b) {
  return a > b ? a : b;
}
LaneVector min(LaneVector a, LaneVector b) {
  return a < b ? a : b;
}
Lane lowest(LaneVector v) {
  v = min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

}  // namespace

Candidates::Candidates(int lanes) : lanes_(lanes) {
  sc_assert(lanes == 16 || lanes == 32 || lanes == 64 || lanes == kMaxLanes);
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
  for (auto& times : times_) {
    for (int i = 0; i < 8; ++i) {
      if (times[i] != kNoTime) times[i] = static_cast<Lane>(std::max<Clock>(times[i] - shift, 0));
    }
  }
  base_ = now;
}

template <int kVectors>
Candidates::Found Candidates::search_rows(Clock floor, Lane low, Lane high) const {
  constexpr int kAgeBits = 9;
  constexpr Lane kLatest = kNoTime >> kAgeBits;
  const LaneVector from = splat(static_cast<Lane>(floor - base_));
  const std::array<LaneVector, 2> held = {splat(low), splat(high)};
  LaneVector first = splat(kNoTime);
#pragma GCC unroll 16
  for (std::size_t v = 0; v < kVectors; ++v) {
    const LaneVector ones = held[v >= kVectors / 2 ? 1 : 0] & ones_[v];
    const LaneVector delay = min(max(times_[v] - from, ones), splat(kLatest));
    first = min(first, (delay << kAgeBits) + ages_[v]);
  }
  const int both = lowest(first);
  const int delay = both >> kAgeBits;
  if (delay < kLatest) return {floor + delay, both & ((1 << kAgeBits) - 1)};
  Delays one{};
  for (int block = 0; block < lanes_ / kBlock; ++block) {
    one[static_cast<std::size_t>(block)] = block * kBlock * 2 >= lanes_ ? high : low;
  }
  return search_in_full(floor, {}, one);
}

template <int kBlocks, bool kOnes>
Candidates::Found Candidates::search_columns(Clock floor, const Delays& zero,
                                             const Delays& one) const {
  constexpr int kAgeBits = 10;
  constexpr Lane kLatest = kNoTime >> kAgeBits;
  const LaneVector from = splat(static_cast<Lane>(floor - base_));
  LaneVector first = splat(kNoTime);
#pragma GCC unroll 8
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const LaneVector zeros = splat(zero[block]);
    const LaneVector ones = splat(kOnes ? one[block] : Lane{0});
#pragma GCC unroll 2
    for (std::size_t v = 2 * block; v < 2 * (block + 1); ++v) {
      const LaneVector held = kOnes ? (zeros & ~ones_[v]) | (ones & ones_[v]) : zeros;
      const LaneVector delay = min(max(times_[v] - from, held), splat(kLatest));
      first = min(first, (delay << kAgeBits) + ages_[v]);
    }
  }
  const int both = lowest(first);
  const int delay = both >> kAgeBits;
  if (delay >= kLatest) return search_in_full(floor, zero, one);
  return {floor + delay, both & ((1 << kAgeBits) - 1)};
}

bool Candidates::empty() const {
  LaneVector earliest = splat(kNoTime);
  for (std::size_t v = 0; v < vector(lanes_); ++v) earliest = min(earliest, times_[v]);
  return lowest(earliest) == kNoTime;
}

// Lane by lane.
[[gnu::noinline]] Candidates::Found Candidates::search_in_full(Clock floor, const Delays& zero,
                                                               const Delays& one) const {
  Found best{kNever, -1};
  if (empty()) return best;
  for (int lane = 0; lane < lanes_; ++lane) {
    const auto v = vector(lane);
    if (times_[v][lane % 8] == kNoTime) continue;
    const auto& held = ones_[v][lane % 8] == 0 ? zero : one;
    const Clock time = std::max(floor + held[static_cast<std::size_t>(lane / kBlock)],
                                base_ + times_[v][lane % 8]);
    const int age = ages_[v][lane % 8];
    if (time < best.time || (time == best.time && age < best.age)) best = {time, age};
  }
  return best;
}

Candidates::Found Candidates::first_row(Clock floor, Lane low, Lane high) const {
  if (lanes_ == 64) return search_rows<8>(floor, low, high);
  if (lanes_ == 32) return search_rows<4>(floor, low, high);
  return lanes_ == 16 ? search_rows<2>(floor, low, high) : search_rows<16>(floor, low, high);
}

Candidates::Found Candidates::first_column(Clock floor, const Delays& zero, const Delays& one,
                                           bool ones) const {
  if (ones) {
    return lanes_ <= 64 ? search_columns<4, true>(floor, zero, one)
                        : search_columns<8, true>(floor, zero, one);
  }
  if (lanes_ == 64) return search_columns<4, false>(floor, zero, one);
  return lanes_ <= 32 ? search_columns<2, false>(floor, zero, one)
                      : search_columns<8, false>(floor, zero, one);
}

}  // namespace npu::model::hbm
