// SPDX-License-Identifier: Apache-2.0
// The timing limits and the candidate commands of all banks of one channel, as arrays with one
// 16-bit lane per bank, so that the earliest candidate is found without branches.
//
// Times are clocks relative to base(). A rank here is a (pseudo channel, stack) pair; its banks
// occupy consecutive lanes, bank groups contiguous, and the number of lanes is padded to eight.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

using Lane = std::int16_t;
// Eight neighbouring lanes.
using LaneVector = Lane __attribute__((vector_size(16)));
constexpr Lane kNoTime = INT16_MAX;
// A distance that forbids nothing: it ends in the past, and cannot overflow.
constexpr Lane kNoDistance = INT16_MIN / 2;
constexpr Lane kAct = -1;    // row_kind: ACT, else PRE (0)
constexpr Lane kWrite = -1;  // column_kind: WR, else RD (0)

struct Pick {
  Clock time = kNever;  // when the command may issue
  Clock key = kNever;   // what competes with other candidates: time, or later (see pick_row)
  int age = 0;          // breaks ties, oldest (smallest) first
  int lane = -1;

  bool beats(const Pick& other) const {
    return key != other.key ? key < other.key : age < other.age;
  }
};

class BankLanes {
 public:
  static constexpr int kMaxLanes = 128;
  static constexpr int kMaxRanks = 8;

  BankLanes(int ranks, int lanes_per_rank);

  int lanes() const { return ranks_ * lanes_per_rank_; }
  int lanes_per_rank() const { return lanes_per_rank_; }
  int ranks() const { return ranks_; }

  // Next legal clock of a command at a bank (with what its bank group imposes).
  using Limits = std::array<Lane, kMaxLanes + 8>;  // a bank group's eight may reach beyond
  alignas(16) Limits act{}, pre{}, read{}, write{};
  // The same for a whole rank.
  alignas(16) std::array<Lane, kMaxRanks> rank_act{}, rank_read{}, rank_write{};

  // Raises the eight limits from `first` on to `now` plus a distance each.
  static void raise(Lane* first, Lane now, LaneVector distances) {
    LaneVector limits;
    std::memcpy(&limits, first, sizeof limits);
    const LaneVector to = distances + now;
    limits = limits > to ? limits : to;
    std::memcpy(first, &limits, sizeof limits);
  }
  // The candidate commands; none: kNoTime there, else 0. Ages are below kNoTime.
  alignas(16) Limits row_kind{}, row_none{}, row_age{};
  alignas(16) Limits column_kind{}, column_none{}, column_age{};

  // The earliest candidate, not before `floor`. An ACT competes as if `act_handicap` clocks later.
  Pick pick_row(Clock floor, int act_handicap) const;
  // `writes`: some of the candidates may be WR; false saves looking at their limits.
  Pick pick_column(Clock floor, bool writes = true) const;
  // The same, one lane after the other: what the others must agree with.
  Pick pick_row_by_loop(Clock floor, int act_handicap) const;
  Pick pick_column_by_loop(Clock floor) const;
  // The candidate of one bank, which must exist.
  Pick row_candidate(int lane, Clock floor, int act_handicap) const;
  Pick column_candidate(int lane, Clock floor) const;

  // The rank of the eight lanes from 8 * vector on.
  std::size_t rank_of_vector(int vector) const {
    return vector_ranks_[static_cast<std::size_t>(vector)];
  }
  Lane relative(Clock time) const { return static_cast<Lane>(time - base_); }
  Clock base() const { return base_; }
  Clock absolute(Lane time) const { return base_ + time; }
  static void raise(Lane& limit, Lane to) {
    if (limit < to) limit = to;
  }
  // Keeps relative times small. To be called before a command is issued at `now`.
  void follow(Clock now) {
    if (now - base_ > kRebaseAfter) rebase(now);
  }

 private:
  static constexpr Clock kRebaseAfter = 16'000;
  void rebase(Clock now);

  int ranks_;
  int lanes_per_rank_;
  std::array<std::uint8_t, kMaxLanes / 8> vector_ranks_{};
  Clock base_ = 0;
};

}  // namespace npu::model::hbm
