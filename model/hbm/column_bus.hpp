// SPDX-License-Identifier: Apache-2.0
// The column bus of a channel: the RD or WR that each bank offers, which of them comes next, and
// what each forbids to those of other banks. Most need no search: while only reads that an ACT was
// issued for are on offer they are looked at in the order of their ACTs (and not kept as
// candidates); of row hits the oldest comes first.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "model/hbm/candidates.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/channel_timing.hpp"
#include "model/hbm/lanes.hpp"
#include "model/hbm/next_command.hpp"
#include "model/hbm/request_queue.hpp"

namespace npu::model::hbm {

class ColumnBus {
 public:
  static constexpr unsigned kRead = 0, kWrite = 1;

  ColumnBus(const ChannelLayout& layout, const Constraints& limits);

  const NextCommand& next() const { return next_; }
  void set_next(NextCommand next) { next_ = next; }
  // No command begins before.
  Clock free() const { return free_; }
  // From when on a RD or WR is allowed that its bank and group allow from `limit` on.
  Clock from(int lane, bool write, Clock limit) const {
    return std::max(limit, candidates_.held_until(write ? kWrite : kRead, lane));
  }

  // Split queues: the banks whose ACT was issued and that wait for the RD or WR it was for, in the
  // order of their ACTs; LaneList::kEnd behind the last one. These come before all others.
  int first_activated() const { return activated_.first(); }
  int behind(int lane) const { return activated_.behind(lane); }
  bool any_activated() const { return activated_.first() != LaneList::kEnd; }
  void activated(int lane) { activated_.add(lane); }
  void served_activated(int lane) { activated_.remove(lane); }
  // Of these, all of them reads, the one that comes first.
  NextCommand earliest_activated(Clock floor, const RequestQueue& queue,
                                 const ChannelTiming& timing) const;

  // A bank offers a RD or WR, allowed from `limit` on by the bank, its group and its arrival; none
  // is decided before `now`. `activated`: it is one of those above.
  struct Offer {
    int age;
    bool write;
    bool activated;
    Clock limit;
  };
  void offer(int lane, const Offer& offer, Clock now) {
    if (offer.activated) {
      hits_offered_.remove(lane);
    } else {
      hits_offered_.add(lane);
    }
    if (kept_) {
      const int age = offer.age + (offer.activated ? 0 : Candidates::kSecondClass);
      candidates_.offer(lane, offer.write ? kWrite : kRead, age, offer.limit);
    }
    next_.offered(std::max({from(lane, offer.write, offer.limit), now, free_}));
  }
  // It offers none.
  void withdraw(int lane) {
    hits_offered_.remove(lane);
    if (kept_) candidates_.withdraw(lane);
  }
  // What it offers is about to change.
  void forget(int lane) { next_.withdrawn(lane); }

  // Whether the candidates are kept up to date. They need be unless the only ones are reads that an
  // ACT was issued for.
  bool kept() const { return kept_; }
  // Whether no row hit on offer can come before one of this bank at `at`, whatever their banks and
  // groups say.
  bool no_hit_before(Clock at, int lane, bool write) const {
    if (at > candidates_.held_until(write ? kWrite : kRead, lane)) return false;
    for (std::size_t block = 0; block < blocks_; ++block) {
      if (hits_offered_.any_in(block) && at > candidates_.held_until(block)) return false;
    }
    return true;
  }
  // Begins with it, with what is on offer.
  void keep(const RequestQueue& queue, const ChannelTiming& timing);
  // Every command is searched for from now on.
  void search_always(bool on) { search_always_ = on; }
  bool searches_always() const { return search_always_; }
  // Looks for the next command, not before next().at.
  void find(const RequestQueue& queue, const ChannelTiming& timing, bool writes);

  // A RD or WR was issued, which `timing` knows.
  void issued(int lane, bool write, Clock at, const ChannelTiming& timing) {
    hold_others(lane, write, at);
    if (kept_) hold_group(lane, write, timing);
    free_ = at + 1;
    next_ = {free_, NextCommand::kUnknown};
  }
  // While the candidates are not kept or there are none.
  void issued_alone(int lane, bool write, Clock at) {
    hold_others(lane, write, at);
    free_ = at + 1;
  }

  // Keep the candidates' clocks small, and their ages.
  void rebase(Clock now) { candidates_.rebase(now); }
  void lower_ages(int less) {
    if (!kept_) candidates_.withdraw_all();
    candidates_.lower_ages(less);
  }

 private:
  // From a RD or WR in a block of lanes to what comes in the others.
  struct Distances {
    Candidates::Distances to_read, to_write;
  };
  void hold_others(int lane, bool write, Clock at) {
    const auto& distances = (write ? after_write_ : after_read_)[block(lane)];
    candidates_.hold(kRead, at, distances.to_read);
    candidates_.hold(kWrite, at, distances.to_write);
  }
  void hold_group(int lane, bool write, const ChannelTiming& timing) {
    candidates_.raise_group(lane, kRead, timing.group_column_from(lane, false));
    if (write) candidates_.raise_group(lane, kWrite, timing.group_column_from(lane, true));
  }
  static std::size_t block(int lane) { return static_cast<unsigned>(lane) / Candidates::kBlock; }

  Candidates candidates_;
  std::array<Distances, Candidates::kMaxBlocks> after_read_{}, after_write_{};
  bool kept_ = false;
  bool search_always_ = false;
  std::uint8_t blocks_;   // of lanes
  LaneSet hits_offered_;  // lanes whose candidate is a queued request
  LaneList activated_;
  NextCommand next_;
  Clock free_ = 0;
};

}  // namespace npu::model::hbm
