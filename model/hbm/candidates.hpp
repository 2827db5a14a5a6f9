// SPDX-License-Identifier: Apache-2.0
// The commands that compete for one bus of a channel, at most one a bank, in arrays with a 16-bit
// lane per bank, so that the earliest, of those with the same clock the oldest, is found without
// branches.
//
// Two kinds of command share a bus: PRE and ACT, RD and WR. Each lane has the clock from which its
// bank allows its candidate; what holds back all of a kind in a rank, a (pseudo channel, stack)
// pair, is given at the time of a pick. The banks of a rank occupy consecutive lanes, bank groups
// contiguous, padded to whole blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

// Eight neighbouring lanes. Their clocks count from a base that follows the time.
using Lane = std::int16_t;
using LaneVector = Lane __attribute__((vector_size(16)));

// A candidate command, or none: the clock at which it competes, then its age.
struct Pick {
  static constexpr int kAgeBits = 16;
  std::int64_t order = INT64_MAX;  // time << kAgeBits | age
  int lane = -1;

  static Pick at(Clock time, int age, int lane) { return {time << kAgeBits | age, lane}; }
  Clock time() const { return order >> kAgeBits; }
  bool beats(const Pick& other) const { return order < other.order; }
};

class Candidates {
 public:
  static constexpr int kMaxLanes = 128;
  static constexpr int kBlock = 16;
  static constexpr std::size_t kMaxBlocks = kMaxLanes / kBlock;
  // Ages are below, so that an age and a small time fit in a lane together.
  static constexpr int kAges = 512;
  // Added to an age: the candidate comes after all without it.
  static constexpr int kSecondClass = kAges;
  // Clocks after the floor of a pick, up to some 10000, during which the candidates of a kind are
  // held back, by block.
  using Delays = std::array<Lane, kMaxBlocks>;
  static Lane delay(Clock limit, Clock floor) {
    return static_cast<Lane>(std::max<Clock>(limit - floor, 0));
  }

  // `lanes`: a multiple of kBlock.
  explicit Candidates(int lanes);

  // Puts a candidate of kind 0 or 1 on offer, which its bank allows from `limit` on.
  void offer(int lane, unsigned kind, int age, Clock limit) {
    const auto v = vector(lane);
    const LaneVector& only = kOnly[static_cast<unsigned>(lane) % 8];
    put(times_[v], only, relative(limit));
    put(ages_[v], only, static_cast<Lane>(age));
    ones_[v] = kind == 0 ? ones_[v] & ~only : ones_[v] | only;
  }
  void withdraw(int lane) { times_[vector(lane)] |= kNone[static_cast<unsigned>(lane) % 8]; }
  // No candidate of the kind is allowed before `limit` in the bank group from lane `first` on.
  void raise_group(int first, unsigned kind, Clock limit) {
    const auto v = vector(first);
    const LaneVector whom =
        groups_[static_cast<unsigned>(first) % 8] & (kind == 0 ? ~ones_[v] : ones_[v]);
    const LaneVector to = whom & relative(limit);
    times_[v] = times_[v] > to ? times_[v] : to;
  }
  void set_group_size(int banks);

  struct Found {
    Clock time;
    int age;  // negative: there is no candidate
  };
  // The first of the candidates, none before `floor`. Those of kind 1 are held back
  // by a delay, given for each half of the lanes; of a single block it is the same.
  Found first_row(Clock floor, Lane low, Lane high) const;
  // Likewise, but ages have a class, and both kinds are held back, given for each block.
  // `ones`: there may be candidates of kind 1.
  Found first_column(Clock floor, const Delays& zero, const Delays& one, bool ones) const;
  // Keeps the clocks in lanes small; to be called before anything is offered at `now` unless
  // follows(now).
  void rebase(Clock now);
  bool follows(Clock now) const { return now - base_ <= kRebaseAfter; }

 private:
  static constexpr Clock kRebaseAfter = 16'000;
  static constexpr Lane kNoTime = INT16_MAX;
  static constexpr std::array<LaneVector, 8> kOnly = {{{-1, 0, 0, 0, 0, 0, 0, 0},
                                                       {0, -1, 0, 0, 0, 0, 0, 0},
                                                       {0, 0, -1, 0, 0, 0, 0, 0},
                                                       {0, 0, 0, -1, 0, 0, 0, 0},
                                                       {0, 0, 0, 0, -1, 0, 0, 0},
                                                       {0, 0, 0, 0, 0, -1, 0, 0},
                                                       {0, 0, 0, 0, 0, 0, -1, 0},
                                                       {0, 0, 0, 0, 0, 0, 0, -1}}};
  // kNoTime, or'ed to a time that is not negative.
  static constexpr std::array<LaneVector, 8> kNone = {{{kNoTime, 0, 0, 0, 0, 0, 0, 0},
                                                       {0, kNoTime, 0, 0, 0, 0, 0, 0},
                                                       {0, 0, kNoTime, 0, 0, 0, 0, 0},
                                                       {0, 0, 0, kNoTime, 0, 0, 0, 0},
                                                       {0, 0, 0, 0, kNoTime, 0, 0, 0},
                                                       {0, 0, 0, 0, 0, kNoTime, 0, 0},
                                                       {0, 0, 0, 0, 0, 0, kNoTime, 0},
                                                       {0, 0, 0, 0, 0, 0, 0, kNoTime}}};
  static std::size_t vector(int lane) { return static_cast<unsigned>(lane) / 8; }
  // What is over when the base passes it is over.
  Lane relative(Clock time) const { return static_cast<Lane>(std::max<Clock>(time - base_, 0)); }
  static void put(LaneVector& lanes, const LaneVector& only, Lane value) {
    lanes = (lanes & ~only) | (only & value);
  }
  template <int kVectors>
  Found search_rows(Clock floor, Lane low, Lane high) const;
  template <int kBlocks, bool kOnes>
  Found search_columns(Clock floor, const Delays& zero, const Delays& one) const;
  Found search_in_full(Clock floor, const Delays& zero, const Delays& one) const;
  bool empty() const;

  int lanes_;
  Clock base_ = 0;
  std::array<LaneVector, 8> groups_{};  // the lanes of a bank group, by its first lane
  // A lane whose clock is kNoTime has no candidate.
  std::array<LaneVector, kMaxLanes / 8> times_;
  std::array<LaneVector, kMaxLanes / 8> ages_{};
  std::array<LaneVector, kMaxLanes / 8> ones_{};  // all bits set: of kind 1
};

}  // namespace npu::model::hbm
