// SPDX-License-Identifier: Apache-2.0
// When the refreshes of a channel fall due, whose turn it is, what a pending one holds back, and
// when each bank was refreshed. Which commands carry one out: refresh_unit.hpp.
//
// All-bank refresh: each pseudo channel every tREFI; with split queues both together, and a pending
// one holds back both until both have been refreshed; with a shared queue the second one half an
// interval earlier, and each holds back its own. Per-bank refresh: one bank of each pseudo channel
// every tREFIpb, in turn, and only that bank is held back.
#pragma once

#include <array>

#include "model/config/hbm_timings.hpp"
#include "model/hbm/bus_account.hpp"
#include "model/hbm/candidates.hpp"
#include "model/hbm/channel_layout.hpp"
#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class RefreshSchedule {
 public:
  // `together`: both pseudo channels.
  RefreshSchedule(const HbmTimings& timings, const ChannelLayout& layout, bool together);

  bool per_bank() const { return per_bank_; }
  Clock interval() const { return interval_; }
  // From now on so many times as often as the timings say; 1: as they say.
  void set_pace(Clock pace);
  // How long one lasts.
  Clock duration() const { return duration_; }

  // When the next one falls due, or the pending one did; kNever: there is no such pseudo channel.
  Clock due(unsigned pseudo_channel) const { return turns_[pseudo_channel].due; }
  // No refresh beyond the pending one is due before.
  Clock behind(unsigned pseudo_channel) const { return turns_[pseudo_channel].behind; }
  // The first clock at which one falls due that is not pending now.
  Clock next_due() const { return std::min(next_due(0), next_due(1)); }

  bool pending(unsigned pseudo_channel) const { return turns_[pseudo_channel].pending; }
  bool pending() const { return turns_[0].pending || turns_[1].pending; }
  // Whether a pending one holds the bank back.
  bool gates(int lane) const { return pending() && gates_lane(lane); }
  // Whether that of the other pseudo channel goes first.
  bool waits_for_other(unsigned pseudo_channel) const {
    return !per_bank_ && together_ && pseudo_channel == 1 && turns_[0].pending;
  }
  bool together() const { return together_; }
  // Per-bank refresh: whose turn it is.
  int lane(unsigned pseudo_channel) const {
    return layout_.first_lane(pseudo_channel) + turns_[pseudo_channel].next_lane;
  }
  // The banks that the last or pending one concerns.
  struct Lanes {
    int first, end;
  };
  Lanes lanes_of_last(unsigned pseudo_channel) const;
  // How many banks have their turn before that of the lane.
  Clock turns_before(int lane) const;

  void fall_due(unsigned pseudo_channel);
  // The pending one ends at `end`.
  void finish(unsigned pseudo_channel, Clock end);
  // Per-bank refresh: the next one falls due and ends at `end`, and holds nothing back.
  void pass(unsigned pseudo_channel, Clock end);
  // So many pass unseen.
  void skip(unsigned pseudo_channel, Clock refreshes);

  // The times of those that concern a burst at `now`.
  RefreshWindows windows_of(int lane, Clock now) const;
  // Those of a whole pseudo channel. (With per-bank refresh there are none: it is not known yet
  // whose bank is served next.)
  RefreshWindows windows_of_all(unsigned pseudo_channel) const {
    if (per_bank_) return {};
    return windows_[static_cast<std::size_t>(layout_.first_lane(pseudo_channel))];
  }
  // What those that fall due next will ask for, of banks that have long not been looked at.
  void prefetch() const;

 private:
  struct Turn {
    Clock due = kNever;
    bool pending = false;
    Clock behind = 0;
    int next_lane = 0;  // per-bank refresh: whose turn it is, within the pseudo channel
  };

  bool gates_lane(int lane) const;
  Clock next_due(unsigned pseudo_channel) const {
    const Turn& turn = turns_[pseudo_channel];
    return turn.pending ? turn.due + interval_ : turn.due;
  }
  RefreshWindows& windows_of_last(unsigned pseudo_channel) {
    return windows_[static_cast<std::size_t>(lanes_of_last(pseudo_channel).first)];
  }
  void take_turns(Turn& turn, Clock turns) const;

  std::array<Turn, 2> turns_;
  bool per_bank_;
  bool together_;
  Clock rated_interval_;
  Clock interval_;
  Clock duration_;
  ChannelLayout layout_;
  std::array<int, 2> last_{-1, -1};  // per-bank refresh: the lane of the last or pending one
  // The place of a bank in the order of turns; a table, because the divisions would be felt.
  std::array<std::int16_t, Candidates::kMaxLanes> place_{};
  // By lane; all-bank refresh: of a pseudo channel, at its first lane.
  std::array<RefreshWindows, Candidates::kMaxLanes> windows_{};
};

}  // namespace npu::model::hbm
