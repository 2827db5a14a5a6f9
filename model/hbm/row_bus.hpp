// SPDX-License-Identifier: Apache-2.0
// The row bus of a channel, which its pseudo channels share: the PRE or ACT that each bank offers,
// and which of them comes next. An ACT holds the bus for act_clocks. Where requests of both kinds
// share a queue an ACT competes as if it came when it ends.
#pragma once

#include <algorithm>
#include <array>

#include "model/hbm/candidates.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/channel_timing.hpp"
#include "model/hbm/next_command.hpp"
#include "model/hbm/request_queue.hpp"
#include "model/hbm/traffic.hpp"

namespace npu::model::hbm {

class RowBus {
 public:
  static constexpr unsigned kPre = 0, kAct = 1;

  // `late_acts`: ACTs compete by their ends.
  RowBus(const ChannelLayout& layout, const ChannelTiming& timing, bool late_acts);

  const NextCommand& next() const { return next_; }
  void set_next(NextCommand next) { next_ = next; }
  // No command begins before.
  Clock free() const { return free_; }
  bool acts_are_late(Traffic traffic) const {
    return traffic == Traffic::kAny && act_handicap_ != 0;
  }

  // A bank offers a command for a request of this age, allowed from `limit` on; none is decided
  // before `now`. (kNever: for no request.)
  void offer_activate(int lane, int age, Clock limit, Clock now) {
    candidates_.offer(lane, kAct, age, limit + act_handicap_);
    next_.offered(std::max({limit, now, free_}));
  }
  void offer_precharge(int lane, int age, Clock limit, Clock now) {
    candidates_.offer(lane, kPre, age, limit);
    next_.offered(std::max({limit, now, free_}));
  }
  // It offers none.
  void withdraw(int lane) { candidates_.withdraw(lane); }
  // None does, until it offers another one.
  void withdraw_all() {
    candidates_.withdraw_all();
    next_.lane = NextCommand::kUnknown;
  }
  // What it offers is about to change.
  void forget(int lane) { next_.withdrawn(lane); }
  // An ACT that stood back for a PRE may come before it; whoever changes a PRE looks again.
  void reconsider(Clock now) {
    if (next_.at != kNever) next_ = {std::max(now, free_), NextCommand::kUnknown};
  }
  // Looks for the next command, not before next().at.
  void find(const RequestQueue& queue, Traffic traffic);

  // The next PRE was issued, whose bank offers an ACT for the same request, its oldest, then.
  void precharged(int lane, Clock at, Clock activate_from) {
    occupy(at);
    candidates_.becomes_one(lane, activate_from + act_handicap_);
    next_.offered(std::max(activate_from, free_));
  }
  // An ACT was issued: its bank offers nothing, those of its pseudo channel and group wait for it.
  void activated(int lane, const ChannelTiming& timing) {
    const unsigned number = layout_.pseudo_channel_of(lane);
    candidates_.activated(lane, layout_.first_lane(number), layout_.lanes_per_pseudo_channel(),
                          timing.any_activate_from(number) + act_handicap_,
                          timing.group_activate_from(lane) + act_handicap_);
  }
  void occupy_by_act(Clock at) { occupy(at + act_extra_); }
  // Another command of one clock.
  void occupy(Clock at) {
    free_ = at + 1;
    next_ = {free_, NextCommand::kUnknown};
  }
  // While nothing is on offer.
  void occupy_idle(Clock at) { free_ = at + 1; }
  void occupy_idle_by_act(Clock at) { free_ = at + 1 + act_extra_; }
  // No ACT of the pseudo channel is allowed before `limit`.
  void hold_activates(unsigned pseudo_channel, Clock limit) {
    candidates_.raise(layout_.first_lane(pseudo_channel), layout_.lanes_per_pseudo_channel(), kAct,
                      limit + act_handicap_);
  }

  // Command by command (opened_reads.hpp), where ACTs are not late. What comes next mostly does not
  // depend on what a PRE or ACT changes, and so need not wait for it: it is sought before that.
  Candidates::Found first(Clock from) const { return candidates_.first_row(from, 0); }
  Candidates::Foremost after_precharge(Clock at, const Candidates::Foremost& it) {
    free_ = at + 1;
    return candidates_.another_row(free_, it);
  }
  Candidates::Foremost after_activate(Clock at, const Candidates::Foremost& it, int lane) {
    free_ = at + 1 + act_extra_;
    return candidates_.another_row(free_, it, lanes_of_[layout_.pseudo_channel_of(lane)]);
  }
  // Whether that is so: the bank cannot be opened, or another of the pseudo channel, as the bus is
  // free again after its PRE or ACT.
  bool known_after_precharge() const { return long_trp_; }
  bool known_after_activate() const { return long_trrd_; }
  // The PRE's bank offers an ACT, allowed once it is `closed` and by `others`.
  void closes(int lane, Clock closed, Clock others) {
    // What is known before the lane is goes first: the next search waits for this.
    candidates_.becomes_one(lane, closed);
    if (others > closed) candidates_.becomes_one(lane, others);
  }

  // Keep the candidates' clocks small, and their ages.
  bool follows(Clock now) const { return candidates_.follows(now); }
  void rebase(Clock now) { candidates_.rebase(now); }
  void lower_ages(int less) { candidates_.lower_ages(less); }

 private:
  Candidates candidates_;
  std::array<Candidates::Lanes, 2> lanes_of_;  // of a pseudo channel
  ChannelLayout layout_;
  NextCommand next_;
  Clock free_ = 0;
  int act_extra_;     // clocks an ACT lasts beyond its first
  int act_handicap_;  // clocks by which it competes later
  bool long_trp_, long_trrd_;
};

}  // namespace npu::model::hbm
