// SPDX-License-Identifier: Apache-2.0
// The commands that compete for the row bus of a channel, at most one a bank, in arrays with a
// 16-bit lane per bank, so that the earliest, of those with the same clock the oldest, is found
// without branches. Lanes change eight at a time, because a vector load right after a store to one
// of them waits.
//
// Two kinds of command share the bus, PRE and ACT. Each lane has the clock from which its candidate
// is allowed. What holds back all of a kind is entered there as it happens (raise). The banks of a
// rank, a (pseudo channel, stack) pair, occupy consecutive lanes, bank groups contiguous, padded to
// whole blocks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

// Eight neighbouring lanes. Their clocks count from a base that follows the time.
using Lane = std::int16_t;
using LaneVector = Lane __attribute__((vector_size(16)));
inline LaneVector later(LaneVector a, LaneVector b) {
  return a > b ? a : b;
}

class Candidates {
 public:
  static constexpr int kMaxLanes = 128;
  static constexpr int kBlock = 16;
  static constexpr std::size_t kMaxBlocks = kMaxLanes / kBlock;
  // Ages are below, so that an age and a small time fit in a lane together.
  static constexpr int kAges = 512;

  // `lanes`: a multiple of kBlock.
  explicit Candidates(int lanes);

  // Puts a candidate of kind 0 or 1 on offer, allowed from `limit` on (kNever: it is withdrawn).
  void offer(int lane, unsigned kind, int age, Clock limit) {
    const auto v = vector(lane);
    const LaneVector& only = kOnly[static_cast<unsigned>(lane) % 8];
    put(times_[v], only, relative(limit));
    put(precedences_[v], only, precedence(age, kind));
    put(ones_[v], only, static_cast<Lane>(-static_cast<int>(kind)));
  }
  // The same candidate, of kind 1 now.
  void becomes_one(int lane, Clock limit) {
    const auto v = vector(lane);
    const LaneVector& only = kOnly[static_cast<unsigned>(lane) % 8];
    put(times_[v], only, relative(limit));
    precedences_[v] |= only & Lane{1};
    ones_[v] |= only;
  }
  void withdraw(int lane) { times_[vector(lane)] |= kNone[static_cast<unsigned>(lane) % 8]; }
  void withdraw_all() { times_.fill(LaneVector{} + kNoTime); }
  // All ages are less by this now.
  void lower_ages(int less);
  // An ACT was issued: the candidate of its lane is withdrawn, and none of kind 1 is allowed before
  // `limit` in the `lanes` lanes, whole blocks, from `first` on, nor before `group_limit` in its
  // bank group. At one go, because a load of what has just been stored would wait.
  void activated(int lane, int first, int lanes, Clock limit, Clock group_limit) {
    const auto all = [](int value) { return LaneVector{} + static_cast<Lane>(value); };
    const LaneVector own = all(lane);
    const LaneVector own_group = all(group_of_[vector(lane)][static_cast<unsigned>(lane) % 8]);
    const LaneVector to = all(near(limit)), to_group = all(near(group_limit));
    const auto update = [&](std::size_t v) {
      const LaneVector group = to_group & (group_of_[v] == own_group);
      const LaneVector raised = later(times_[v], later(to, group) & ones_[v]);
      times_[v] = raised | (kNoTime & (kLaneOf[v] == own));
    };
    const auto block = [&](std::size_t v) {
      update(v);
      update(v + 1);
    };
    const auto v = vector(first);
    block(v);
    if (lanes > kBlock) block(v + 2);  // as most have; without a loop
    for (int more = 2 * kBlock; more < lanes; more += kBlock) block(v + vector(more));
  }
  // No candidate of the kind is allowed before `limit` in whole blocks.
  void raise(int first, int lanes, unsigned kind, Clock limit) {
    const LaneVector to = LaneVector{} + near(limit);
    const auto v = vector(first);
    raise_block(v, kind, to);
    if (lanes > kBlock) raise_block(v + 2, kind, to);  // as most have; without a loop
    for (int more = 2 * kBlock; more < lanes; more += kBlock) {
      raise_block(v + vector(more), kind, to);
    }
  }
  void set_group_size(int banks);

  struct Found {
    Clock time;
    int age;  // negative: there is no candidate
  };
  // The earliest candidate, of several the oldest, none before `earliest`, those of kind 1 not
  // `floor` + `handicap`.
  Found first_row(Clock earliest, int handicap) const;
  // A candidate as a search finds it: its precedence in all lanes of a vector, 0 if there is none.
  // The next search takes it from there, as the way through an integer register would be felt.
  struct Foremost {
    LaneVector precedence;
    int age() const { return precedence[0] == 0 ? -1 : age_of(precedence[0]); }
    unsigned kind() const { return static_cast<unsigned>(precedence[0]) & 1; }
  };
  static Foremost foremost_of(int age, unsigned kind) {
    const Lane all = precedence(age, kind);
    return {LaneVector{} + all};
  }
  // The oldest one allowed at `at` but for another; with `without` but for all of kind 1 in the
  // lanes whose bits are set there.
  using Lanes = std::array<LaneVector, kMaxLanes / 8>;
  Foremost another_row(Clock at, const Foremost& but) const;
  Foremost another_row(Clock at, const Foremost& but, const Lanes& without) const;
  static Lanes lanes(int first, int count);
  // Keeps the clocks in lanes small; to be called before anything is offered at `now` unless
  // follows(now).
  void rebase(Clock now);
  bool follows(Clock now) const { return now - base_ <= kRebaseAfter; }

 private:
  static constexpr Clock kRebaseAfter = 16'000;
  static constexpr Lane kNoTime = INT16_MAX;
  static constexpr Lane kNotYet = -1;
  static constexpr Lane kFirst = kAges;
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
  static const std::array<LaneVector, kMaxLanes / 8> kLaneOf;  // their numbers
  // The older, the higher, and the kind, which whoever finds it need then not look up.
  static Lane precedence(int age, unsigned kind) {
    return static_cast<Lane>(2 * (kFirst - age) + static_cast<int>(kind));
  }
  static int age_of(Lane precedence) { return kFirst - precedence / 2; }
  static std::size_t vector(int lane) { return static_cast<unsigned>(lane) / 8; }
  Lane relative(Clock time) const {
    return static_cast<Lane>(std::clamp<Clock>(time - base_, 0, kNoTime));
  }
  // Of a time from the base on that is no more than some 8000 clocks ahead.
  Lane near(Clock time) const { return static_cast<Lane>(time - base_); }
  static void put(LaneVector& lanes, const LaneVector& only, Lane value) {
    lanes = (lanes & ~only) | (only & value);
  }
  void raise_vector(std::size_t v, unsigned kind, const LaneVector& limit) {
    const LaneVector to = limit & (kind == 0 ? ~ones_[v] : ones_[v]);
    times_[v] = later(times_[v], to);
  }
  void raise_block(std::size_t v, unsigned kind, const LaneVector& limit) {
    raise_vector(v, kind, limit);
    raise_vector(v + 1, kind, limit);
  }
  template <class From>
  Found search(Lane floor, const From& from) const;
  template <std::size_t kVectors, class From>
  Found search_lanes(Lane floor, const From& from) const;
  template <class Until>
  Foremost foremost(const Until& until) const;
  template <class From>
  Found search_late(const From& from) const;

  int lanes_;
  Clock base_ = 0;
  std::array<LaneVector, kMaxLanes / 8> group_of_{};
  // A lane whose clock is kNoTime has no candidate.
  std::array<LaneVector, kMaxLanes / 8> times_;
  std::array<LaneVector, kMaxLanes / 8> precedences_{};  // of candidates
  std::array<LaneVector, kMaxLanes / 8> ones_{};         // all bits set: of kind 1
};

}  // namespace npu::model::hbm
