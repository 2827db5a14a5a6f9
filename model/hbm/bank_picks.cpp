// SPDX-License-Identifier: Apache-2.0
// The picks over all banks, eight lanes at a time: the earliest key first, then the smallest age
// among the candidates that have it, then its lane. GCC's vector types compile to SSE2 or NEON.
#include "model/hbm/bank_lanes.hpp"

#include <cstring>

namespace npu::model::hbm {
namespace {

using Vector = Lane __attribute__((vector_size(16)));
using Mask = Lane __attribute__((vector_size(16)));
constexpr int kWidth = 8;
constexpr int kMaxVectors = BankLanes::kMaxLanes / kWidth;

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
  v = min(v, __builtin_shuffle(v, Mask{4, 5, 6, 7, 0, 1, 2, 3}));
  v = min(v, __builtin_shuffle(v, Mask{2, 3, 0, 1, 6, 7, 4, 5}));
  v = min(v, __builtin_shuffle(v, Mask{1, 0, 3, 2, 5, 4, 7, 6}));
  return v[0];
}

// Of the lanes whose key is the lowest, the one with the lowest age; keys of kNoTime do not count.
Pick oldest_of_earliest(const Vector* keys, int vectors, const BankLanes::Limits& ages,
                        Clock base) {
  Vector earliest = keys[0];
  for (int i = 1; i < vectors; ++i) earliest = min(earliest, keys[i]);
  const Lane key = lowest(earliest);
  if (key == kNoTime) return {};
  const Vector wanted = splat(key);
  Vector oldest = splat(kNoTime);
  for (int i = 0; i < vectors; ++i) {
    oldest = min(oldest, select(keys[i] == wanted, load(ages, i * kWidth), splat(kNoTime)));
  }
  const Lane age = lowest(oldest);
  const Vector ours = splat(age);
  const Vector numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  Vector found = splat(kNoTime);
  for (int i = 0; i < vectors; ++i) {
    const Mask hit = (keys[i] == wanted) & (load(ages, i * kWidth) == ours);
    found = min(found, select(hit, numbers + splat(static_cast<Lane>(i * kWidth)), splat(kNoTime)));
  }
  return {base + key, base + key, age, lowest(found)};
}

}  // namespace

Pick BankLanes::pick_row(Clock floor, int act_handicap) const {
  Vector keys[kMaxVectors];
  const Vector bound = splat(relative(floor));
  const Vector handicap = splat(static_cast<Lane>(act_handicap));
  const int per_rank = lanes_per_rank_ / kWidth;
  int i = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Vector rank_limit = splat(rank_act[static_cast<std::size_t>(rank)]);
    for (int end = i + per_rank; i < end; ++i) {
      const int lane = i * kWidth;
      const Mask is_act = load(row_kind, lane);
      const Vector limit = select(is_act, max(load(act, lane), rank_limit), load(pre, lane));
      const Vector key = max(limit, bound) + (is_act & handicap);
      keys[i] = max(key, load(row_none, lane));
    }
  }
  Pick pick = oldest_of_earliest(keys, i, row_age, base_);
  if (pick.lane >= 0 && row_kind[static_cast<std::size_t>(pick.lane)] == kAct) {
    pick.time -= act_handicap;
  }
  return pick;
}

Pick BankLanes::pick_column(Clock floor) const {
  Vector keys[kMaxVectors];
  const Vector bound = splat(relative(floor));
  const int per_rank = lanes_per_rank_ / kWidth;
  int i = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Vector read_limit = splat(rank_read[static_cast<std::size_t>(rank)]);
    const Vector write_limit = splat(rank_write[static_cast<std::size_t>(rank)]);
    for (int end = i + per_rank; i < end; ++i) {
      const int lane = i * kWidth;
      const Vector limit = select(load(column_kind, lane), max(load(write, lane), write_limit),
                                  max(load(read, lane), read_limit));
      keys[i] = max(max(limit, bound), load(column_none, lane));
    }
  }
  return oldest_of_earliest(keys, i, column_age, base_);
}

}  // namespace npu::model::hbm
