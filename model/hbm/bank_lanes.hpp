// SPDX-License-Identifier: Apache-2.0
// The timing limits and the candidate commands of all banks of one channel, as arrays with one
// 16-bit lane per bank, so that the earliest candidate is found without branches.
//
// Times are clocks relative to base(). A rank here is a (pseudo channel, stack) pair; its banks
// occupy consecutive lanes, bank groups contiguous, and the number of lanes is padded to whole
// blocks of sixteen. What concerns a whole rank is kept per block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

using Lane = std::int16_t;
// Eight neighbouring lanes.
using LaneVector = Lane __attribute__((vector_size(16)));
constexpr Lane kNoTime = INT16_MAX;
// A distance that forbids nothing: it ends in the past, and cannot overflow.
constexpr Lane kNoDistance = INT16_MIN / 2;

// What a command forbids in one bank group: distances for the eight lanes around it, for every
// position its first lane may have among them.
using GroupDistances = std::array<LaneVector, 8>;

// A candidate command, or none. What competes is the time at which it could issue, or a later one
// (see pick_row); of those with the same time the oldest, with the smallest age, comes first.
struct Pick {
  static constexpr int kAgeBits = 16;
  std::int64_t order = INT64_MAX;  // time << kAgeBits | age
  int lane = -1;

  static Pick at(Clock time, int age, int lane) { return {time << kAgeBits | age, lane}; }
  Clock time() const { return order >> kAgeBits; }
  bool beats(const Pick& other) const { return order < other.order; }
};

class BankLanes {
 public:
  static constexpr int kMaxLanes = 128;
  static constexpr int kBlock = 16;
  static constexpr int kMaxBlocks = kMaxLanes / kBlock;
  // Ages are below, so that an age and a small time fit in a lane together (bank_picks.cpp).
  static constexpr int kAges = 512;
  // Added to a column command's age: it comes after all candidates without.
  static constexpr int kSecondClass = kAges;

  // One kind of command. Offers are only ever changed eight at a time: the picks load them so, and
  // a load of eight lanes is late if one of them has just been stored alone.
  class Kind {
   public:
    // The next legal clock at a bank, with what its bank group imposes.
    Lane limit(int lane) const { return limits_[vector(lane)][lane % 8]; }
    // The limit of a bank that offers such a command, else kNoTime.
    Lane offered(int lane) const { return offers_[vector(lane)][lane % 8]; }
    const LaneVector& offers(int vector) const { return offers_[static_cast<std::size_t>(vector)]; }

    // Raises a limit, but no offer: make it anew, or withdraw it.
    void raise(int lane, Lane to) {
      Lane& limit = reinterpret_cast<Lane*>(&limits_)[lane];
      limit = std::max(limit, to);
    }
    // Limits and offers of a bank group, whose first bank is given.
    void raise_group(int first, Lane now, const GroupDistances& distances) {
      const LaneVector to = distances[static_cast<std::size_t>(first % 8)] + now;
      for (auto* lanes : {&limits_[vector(first)], &offers_[vector(first)]}) {
        *lanes = *lanes > to ? *lanes : to;
      }
    }
    void offer(int lane) { put(lane, limits_[vector(lane)]); }
    void withdraw(int lane) { put(lane, kNoTimes); }

   private:
    friend class BankLanes;
    static constexpr LaneVector kNoTimes = {kNoTime, kNoTime, kNoTime, kNoTime,
                                            kNoTime, kNoTime, kNoTime, kNoTime};
    void put(int lane, LaneVector from) {
      offers_[vector(lane)] = merge(offers_[vector(lane)], from, lane);
    }

    std::array<LaneVector, kMaxLanes / 8> limits_{};
    std::array<LaneVector, kMaxLanes / 8> offers_{};
  };

  BankLanes(int ranks, int lanes_per_rank);

  static std::size_t vector(int lane) { return static_cast<unsigned>(lane) / 8; }
  static std::size_t block(int lane) { return static_cast<unsigned>(lane) / kBlock; }
  int lanes() const { return ranks_ * lanes_per_rank_; }
  int lanes_per_rank() const { return lanes_per_rank_; }
  int blocks() const { return lanes() / kBlock; }

  Kind act, pre, read, write;
  // What a whole rank must keep besides, per block.
  LaneVector block_act{}, block_read{}, block_write{};
  static void raise_blocks(LaneVector& limits, Lane now, const LaneVector& distances) {
    const LaneVector to = distances + now;
    limits = limits > to ? limits : to;
  }

  // The ages of the candidates; a bank offers at most one row and one column command. An age
  // belongs to one lane, told in time by set_lane().
  struct Ages {
    Lane operator[](int lane) const { return lanes[vector(lane)][lane % 8]; }
    void set(int lane, int age) {
      const auto a = static_cast<Lane>(age);
      lanes[vector(lane)] = merge(lanes[vector(lane)], LaneVector{a, a, a, a, a, a, a, a}, lane);
    }
    std::array<LaneVector, kMaxLanes / 8> lanes{};
  };
  Ages row_age, column_age;
  void set_lane(int age, int lane) {
    lane_of_age_[static_cast<std::size_t>(age)] = static_cast<std::uint8_t>(lane);
  }

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

  Lane relative(Clock time) const { return static_cast<Lane>(time - base_); }
  Clock absolute(Lane time) const { return base_ + time; }
  // Keeps relative times small. To be called before a command is issued at `now`.
  void follow(Clock now) {
    if (now - base_ > kRebaseAfter) rebase(now);
  }

 private:
  static constexpr Clock kRebaseAfter = 16'000;
  // `lane` from the second, the others of its eight from the first.
  static LaneVector merge(const LaneVector& all, const LaneVector& from, int lane) {
    static constexpr std::array<LaneVector, 8> kOnly = {{{-1, 0, 0, 0, 0, 0, 0, 0},
                                                         {0, -1, 0, 0, 0, 0, 0, 0},
                                                         {0, 0, -1, 0, 0, 0, 0, 0},
                                                         {0, 0, 0, -1, 0, 0, 0, 0},
                                                         {0, 0, 0, 0, -1, 0, 0, 0},
                                                         {0, 0, 0, 0, 0, -1, 0, 0},
                                                         {0, 0, 0, 0, 0, 0, -1, 0},
                                                         {0, 0, 0, 0, 0, 0, 0, -1}}};
    const LaneVector& only = kOnly[static_cast<unsigned>(lane) % 8];
    return (all & ~only) | (from & only);
  }
  void rebase(Clock now);
  template <int kBlocks, bool kHandicap>
  Pick row_pick(Clock floor, Lane handicap) const;
  template <int kBlocks, bool kWrites>
  Pick column_pick(Clock floor) const;
  int lane_of(int age) const { return lane_of_age_[static_cast<unsigned>(age) % kAges]; }

  int ranks_;
  int lanes_per_rank_;
  Clock base_ = 0;
  std::array<std::uint8_t, kAges> lane_of_age_{};
};

}  // namespace npu::model::hbm
