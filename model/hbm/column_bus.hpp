// SPDX-License-Identifier: Apache-2.0
// The column bus of a channel: the RD or WR that each bank offers, which of them comes next, and
// what each forbids to those of other banks. From when on one is allowed is looked up as it is
// needed: those that an ACT was issued for in the order of their ACTs, row hits the oldest first,
// until one is allowed at once.
#pragma once

#include <algorithm>
#include <array>

#include "model/hbm/block_holds.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/channel_timing.hpp"
#include "model/hbm/lanes.hpp"
#include "model/hbm/next_command.hpp"
#include "model/hbm/request_queue.hpp"
#include "model/hbm/row_hits.hpp"
#include "model/hbm/traffic.hpp"

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
    return std::max(limit, held_.until(write ? kWrite : kRead, block(lane)));
  }

  // Split queues: the banks whose ACT was issued and that wait for the RD or WR it was for, in the
  // order of their ACTs; LaneList::kEnd behind the last one. These come before all others.
  int first_activated() const { return activated_.first(); }
  int behind(int lane) const { return activated_.behind(lane); }
  bool any_activated() const { return activated_.first() != LaneList::kEnd; }
  void activated(int lane) { activated_.add(lane); }
  void served_activated(int lane) { activated_.remove(lane); }
  // Of these the one that comes first.
  NextCommand earliest_activated(Clock floor, const RequestQueue& queue,
                                 const ChannelTiming& timing, Traffic traffic) const;

  // A bank offers the RD or WR of one of those above, or of a row hit, allowed from `limit` on by
  // the bank and its arrival, and by its group from `group_limit` on; none is decided before `now`.
  void offer_activated(int lane, bool write, Clock limit, Clock now) {
    withdraw(lane);
    next_.offered(std::max({from(lane, write, limit), now, free_}));
  }
  void offer_hit(const RowHits::Hit& hit, Clock group_limit, Clock now) {
    hits_.offer(hit);
    const Clock held = held_.until(hit.write ? kWrite : kRead, hit.block);
    next_.offered(std::max({hit.from, group_limit, held, now, free_}));
  }
  // It offers none.
  void withdraw(int lane) { hits_.withdraw(lane); }
  // No bank offers a row hit, until it offers another one.
  void withdraw_hits() {
    hits_.withdraw_all();
    next_.lane = NextCommand::kUnknown;
  }
  bool any_hit() const { return !hits_.empty(); }
  // What it offers is about to change.
  void forget(int lane) { next_.withdrawn(lane); }

  // The row hit that comes first, from `floor` on, if it is one that comes next; null: there is
  // none.
  struct FirstHit {
    Clock at = kNever;
    RowHits::Hit* hit = nullptr;
  };
  FirstHit first_hit(Clock floor, const ChannelTiming& timing, Traffic traffic);
  // Its bank offers the next one.
  void next_hit(RowHits::Hit& hit, std::int16_t age, Clock from) { hits_.replace(hit, age, from); }

  // Looks for the next command, not before next().at.
  void find(const RequestQueue& queue, const ChannelTiming& timing, Traffic traffic);

  // A RD or WR was issued.
  void issued(int lane, bool write, Clock at) {
    issued_alone(lane, write, at);
    next_ = {free_, NextCommand::kUnknown};
  }
  // While there are no others.
  void issued_alone(int lane, bool write, Clock at) {
    const auto& distances = (write ? after_write_ : after_read_)[block(lane)];
    held_.hold(kRead, at, distances.to_read);
    held_.hold(kWrite, at, distances.to_write);
    free_ = at + 1;
  }

  // Keep the clocks small that hold back, and ages.
  void rebase(Clock now) { held_.rebase(now); }
  void lower_ages(int less) { hits_.lower_ages(less); }

  static std::size_t block(int lane) { return static_cast<unsigned>(lane) / Candidates::kBlock; }

 private:
  // From a RD or WR in a block of lanes to what comes in the others.
  struct Distances {
    BlockHolds::Distances to_read, to_write;
  };
  BlockHolds held_;
  std::array<Distances, Candidates::kMaxBlocks> after_read_{}, after_write_{};
  RowHits hits_;
  LaneList activated_;
  NextCommand next_;
  Clock free_ = 0;
};

}  // namespace npu::model::hbm
