// SPDX-License-Identifier: Apache-2.0
// The picks over all banks, eight lanes at a time: the earliest key first, then the smallest age
// among the candidates that have it, then its lane. GCC's vector types compile to SSE2 or NEON.
#include "model/hbm/bank_lanes.hpp"

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace npu::model::hbm {
namespace {

using Vector = LaneVector;
using Mask = LaneVector;
constexpr int kWidth = 8;
static_assert(BankLanes::kMaxLanes == 16 * kWidth);

Vector load(const BankLanes::Limits& from, int lane) {
  Vector v;
  std::memcpy(&v, from.data() + lane, sizeof v);
  return v;
}

Vector splat(Lane value) {
  return Vector{value, value, value, value, value, value, value, value};
}

Vector max(Vector a, Vector b) {
  return a > b ? a : b;
}
Vector min(Vector a, Vector b) {
  return a < b ? a : b;
}
Vector select(Mask mask, Vector a, Vector b) {
  return (mask & a) | (~mask & b);
}

Lane lowest(Vector v) {
  v = min(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3));
  v = min(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = min(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return v[0];
}

// The lane that has the value; one must.
template <int kVectors>
int find(const Vector* values, Vector value) {
#ifdef __SSE2__
  std::uint64_t bits[kVectors / 4];  // without branches, which nothing could predict
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; i += 4) {
    const auto four = [values, value](int at) {
      const auto pack = [values, value](int j) {
        return _mm_packs_epi16(reinterpret_cast<__m128i>(values[j] == value),
                               reinterpret_cast<__m128i>(values[j + 1] == value));
      };
      const auto low = static_cast<std::uint64_t>(_mm_movemask_epi8(pack(at)));
      const auto high = static_cast<std::uint64_t>(_mm_movemask_epi8(pack(at + 2)));
      return low | high << 16;
    };
    bits[i / 4] = four(i);
  }
  if constexpr (kVectors == 4) return __builtin_ctzll(bits[0]);
  for (int i = 0; i + 1 < kVectors / 4; i += 2) {
    const std::uint64_t both = bits[i] | bits[i + 1] << 32;
    if (both != 0) return i * 4 * kWidth + __builtin_ctzll(both);
  }
#else
  for (int lane = 0; lane < kVectors * kWidth; ++lane) {
    if (values[lane / kWidth][lane % kWidth] == value[0]) return lane;
  }
#endif
  return -1;
}

// Of the lanes whose key is the lowest, the one with the lowest age; keys of kNoTime do not count.
// Overwrites the keys. Inlined, so that those of few banks stay in registers.
template <int kVectors>
[[gnu::always_inline]] inline Pick oldest_of_earliest(Vector* keys, const BankLanes::Limits& ages,
                                                      Clock base) {
  Vector earliest = keys[0];
#pragma GCC unroll 16
  for (int i = 1; i < kVectors; ++i) earliest = min(earliest, keys[i]);
  const Lane key = lowest(earliest);
  if (key == kNoTime) return {};
  const Vector wanted = splat(key);
  Vector oldest = splat(kNoTime);
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    keys[i] = select(keys[i] == wanted, load(ages, i * kWidth), splat(kNoTime));
    oldest = min(oldest, keys[i]);
  }
  const Lane age = lowest(oldest);
  return {base + key, base + key, age, find<kVectors>(keys, splat(age))};
}

template <int kVectors>
Pick row_pick(const BankLanes& b, Clock floor, int act_handicap) {
  Vector keys[kVectors];
  const Vector bound = splat(b.relative(floor));
  const Vector handicap = splat(static_cast<Lane>(act_handicap));
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    const int lane = i * kWidth;
    const Mask is_act = load(b.row_kind, lane);
    const Vector rank_limit = splat(b.rank_act[b.rank_of_vector(i)]);
    const Vector limit = select(is_act, max(load(b.act, lane), rank_limit), load(b.pre, lane));
    keys[i] = max(max(limit, bound) + (is_act & handicap), load(b.row_none, lane));
  }
  Pick pick = oldest_of_earliest<kVectors>(keys, b.row_age, b.base());
  if (pick.lane >= 0 && b.row_kind[static_cast<std::size_t>(pick.lane)] == kAct) {
    pick.time -= act_handicap;
  }
  return pick;
}

template <int kVectors>
Pick column_pick(const BankLanes& b, Clock floor, bool writes) {
  Vector keys[kVectors];
  const Vector bound = splat(b.relative(floor));
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    const int lane = i * kWidth;
    const Vector limit = max(load(b.read, lane), splat(b.rank_read[b.rank_of_vector(i)]));
    keys[i] = max(max(limit, bound), load(b.column_none, lane));
  }
  if (writes) {
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i) {
      const int lane = i * kWidth;
      const Vector limit = max(load(b.write, lane), splat(b.rank_write[b.rank_of_vector(i)]));
      const Vector write_key = max(max(limit, bound), load(b.column_none, lane));
      keys[i] = select(load(b.column_kind, lane), write_key, keys[i]);
    }
  }
  return oldest_of_earliest<kVectors>(keys, b.column_age, b.base());
}

}  // namespace

// Lanes beyond lanes() hold no candidates.
Pick BankLanes::pick_row(Clock floor, int act_handicap) const {
  if (lanes() <= 32) return row_pick<4>(*this, floor, act_handicap);
  if (lanes() <= 64) return row_pick<8>(*this, floor, act_handicap);
  return row_pick<16>(*this, floor, act_handicap);
}

Pick BankLanes::pick_column(Clock floor, bool writes) const {
  if (lanes() <= 32) return column_pick<4>(*this, floor, writes);
  if (lanes() <= 64) return column_pick<8>(*this, floor, writes);
  return column_pick<16>(*this, floor, writes);
}

}  // namespace npu::model::hbm
