// SPDX-License-Identifier: Apache-2.0
// When the banks of a channel are refreshed. All-bank: PREab once nothing keeps a row open, tRP,
// REF. Per-bank: PRE of the bank whose turn it is if it is open, tRP, REFpb; the others serve on.
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

void ChannelEngine::start_refresh() {
  const Clock interval = per_bank_ ? t_.trefi_pb : t_.trefi;
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    // Shared queue: the second pseudo channel half an interval earlier.
    refresh_[p].due = p == 1 && !split_ ? interval - interval / 2 : interval;
  }
  if (t_.pseudo_channels == 1) refresh_[1].due = kNever;
  last_refreshed_.fill(-1);
  schedule_refresh();
}

int ChannelEngine::refresh_lane(unsigned pseudo_channel) const {
  return static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_ +
         refresh_[pseudo_channel].next_lane;
}

bool ChannelEngine::any_open(unsigned pseudo_channel) const {
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  for (int lane = first; lane < first + lanes_per_pseudo_channel_; ++lane) {
    if (queue_.bank(lane).open) return true;
  }
  return false;
}

// A REFpb keeps the distances of an ACT (tRRD, tFAW), so that it is legal no later than one and
// comes first; what an ACT of several clocks may begin earlier (tRP, tRFC, tRREFD) in full.
Clock ChannelEngine::bank_refresh_limit(unsigned pseudo_channel) const {
  const int lane = refresh_lane(pseudo_channel);
  const Clock own = queue_.bank(lane).act + act_extra_;
  const Clock others = std::max(group(lane).act, pseudo_channels_[pseudo_channel].act);
  return std::max({own, others, refresh_[pseudo_channel].next_legal});
}

// The clock of the next command of a pending refresh.
Clock ChannelEngine::refresh_action(unsigned pseudo_channel) const {
  const Clock row_bus = std::max(now_, row_bus_free_);
  if (per_bank_) {
    const int lane = refresh_lane(pseudo_channel);
    const Bank& bank = queue_.bank(lane);
    if (bank.opened != kNoRequest) return kNever;
    if (bank.open) return std::max(row_bus, bank.pre);
    return std::max(row_bus, bank_refresh_limit(pseudo_channel));
  }
  if (split_ && pseudo_channel == 1 && refresh_[0].pending) return kNever;
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  const bool open = any_open(pseudo_channel);
  Clock when = row_bus;
  for (int lane = first; lane < first + lanes_per_pseudo_channel_; ++lane) {
    const Bank& bank = queue_.bank(lane);
    if (bank.opened != kNoRequest) return kNever;
    if (open && !bank.open) continue;
    when = std::max(when, open ? bank.pre : act_limit(lane) + act_extra_);
  }
  return when;
}

[[gnu::noinline]] void ChannelEngine::schedule_refresh() {
  next_refresh_ = kNever;
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    const Refresh& refresh = refresh_[p];
    // A refresh that is late falls due now: time does not go back.
    const Clock at = refresh.pending ? refresh_action(p) : std::max(refresh.due, now_);
    next_refresh_ = std::min(next_refresh_, at);
  }
}

[[gnu::noinline]] void ChannelEngine::step_refresh(Clock at) {
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    Refresh& refresh = refresh_[p];
    if (!refresh.pending && refresh.due <= at) {
      fall_due(p);
      update_gated(p, last_refreshed_[p]);
    }
  }
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    // The row bus takes one command per clock.
    if (!refresh_[p].pending || refresh_action(p) != at) continue;
    if (per_bank_) {
      refresh_one_bank(p, at);
    } else if (any_open(p)) {
      close_all_banks(p, at);
    } else {
      refresh_all_banks(p, at);
    }
    row_bus_free_ = at + 1;
    row_ = {row_bus_free_, kUnknown};
  }
  schedule_refresh();
}

void ChannelEngine::close_all_banks(unsigned pseudo_channel, Clock at) {
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  if (observer_) report(CommandKind::kPrechargeAll, first, 0, at);
  for (int lane = first; lane < first + lanes_per_pseudo_channel_; ++lane) {
    precharge(lane, at);
    update_bank(lane);
  }
  ++counts_.precharges;
}

void ChannelEngine::refresh_all_banks(unsigned pseudo_channel, Clock at) {
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  if (observer_) report(CommandKind::kRefresh, first, 0, at);
  for (int lane = first; lane < first + lanes_per_pseudo_channel_; ++lane) {
    raise(queue_.bank(lane).act, at + limits_.refresh_to_act);
  }
  refresh_[pseudo_channel].due += t_.trefi;
  end_refresh(pseudo_channel, at + t_.trfc);
}

void ChannelEngine::refresh_one_bank(unsigned pseudo_channel, Clock at) {
  const int lane = refresh_lane(pseudo_channel);
  if (queue_.bank(lane).open) {
    if (observer_) report(CommandKind::kPrecharge, lane, 0, at);
    precharge(lane, at);
    update_bank(lane);
    ++counts_.precharges;
    return;
  }
  if (observer_) report(CommandKind::kRefreshBank, lane, 0, at);
  raise(queue_.bank(lane).act, at + limits_.refresh_bank_to_act);
  hold_activates(pseudo_channel, at + limits_.refresh_bank_to_any_act);
  refresh_[pseudo_channel].next_legal = at + limits_.refresh_bank_to_refresh_bank;
  take_turns(refresh_[pseudo_channel], 1);
  refresh_[pseudo_channel].due += t_.trefi_pb;
  end_refresh(pseudo_channel, at + t_.trfc_pb);
}

void ChannelEngine::fall_due(unsigned pseudo_channel) {
  Refresh& refresh = refresh_[pseudo_channel];
  refresh.pending = true;
  refresh.behind = refresh.due + refresh_interval();
  if (per_bank_) last_refreshed_[pseudo_channel] = refresh_lane(pseudo_channel);
  refreshes(pseudo_channel).fall_due(refresh.due);
  note_refreshed(pseudo_channel, kNever);
}

RefreshWindows& ChannelEngine::refreshes(unsigned pseudo_channel) {
  const int lane = per_bank_ ? last_refreshed_[pseudo_channel]
                             : static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  return refreshes_[static_cast<std::size_t>(lane)];
}

// Tells the banks concerned when their refresh ends.
void ChannelEngine::note_refreshed(unsigned pseudo_channel, Clock end) {
  if (per_bank_) {
    queue_.bank(last_refreshed_[pseudo_channel]).refreshed = end;
    return;
  }
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  for (int i = first; i < first + lanes_per_pseudo_channel_; ++i) queue_.bank(i).refreshed = end;
}

// Those that concern a burst: with that of its bank which is due behind the pending one of another.
RefreshWindows ChannelEngine::refreshes_of(int lane, Clock now) const {
  const unsigned number = pseudo_channel_of(lane);
  if (!per_bank_) return refreshes_[number * static_cast<std::size_t>(lanes_per_pseudo_channel_)];
  RefreshWindows windows = refreshes_[static_cast<std::size_t>(lane)];
  const Clock due = refresh_[number].due + Clock{t_.trefi_pb} * turns_before(number, lane);
  if (due <= now) windows.fall_due(due);
  return windows;
}

void ChannelEngine::end_refresh(unsigned pseudo_channel, Clock end) {
  Refresh& refresh = refresh_[pseudo_channel];
  const Clock due = refresh.due - (per_bank_ ? t_.trefi_pb : t_.trefi);
  refresh.pending = false;
  refresh.behind = refresh.due;
  ++counts_.refreshes;
  refreshes(pseudo_channel).finish(end);
  note_refreshed(pseudo_channel, end);
  if (refresh_log_) refresh_log_->push_back({due, end, pseudo_channel});
  update_gated(pseudo_channel, last_refreshed_[pseudo_channel]);
}

// The candidates a refresh of the pseudo channel (per-bank: of `lane`) begins or ceases to hold
// back.
void ChannelEngine::update_gated(unsigned pseudo_channel, int lane) {
  if (idle()) return;
  if (per_bank_) return update_bank(lane);
  if (split_) return update_all();
  const int first = static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_;
  for (int i = first; i < first + lanes_per_pseudo_channel_; ++i) update_bank(i);
}

// How many banks have their turn before that of the lane.
Clock ChannelEngine::turns_before(unsigned pseudo_channel, int lane) const {
  const auto turn = [this](const Place& p) { return p.stack * banks_per_rank_ + p.in_rank; };
  const int banks = banks_per_rank_ * static_cast<int>(t_.stacks);
  return (turn(place(lane)) - turn(place(refresh_lane(pseudo_channel))) + banks) % banks;
}

// Per-bank refresh goes round the banks; lanes that pad a rank have no turn.
void ChannelEngine::take_turns(Refresh& refresh, Clock turns) const {
  if (banks_per_rank_ == lanes_per_rank_) {
    const Clock next = refresh.next_lane + turns;
    refresh.next_lane = static_cast<int>(
        next < lanes_per_pseudo_channel_ ? next : next % lanes_per_pseudo_channel_);
    return;
  }
  for (turns %= banks_per_rank_ * static_cast<int>(t_.stacks); turns > 0; --turns) {
    do {
      refresh.next_lane = (refresh.next_lane + 1) % lanes_per_pseudo_channel_;
    } while (refresh.next_lane % lanes_per_rank_ >= banks_per_rank_);
  }
}

// Whether a REFpb that falls due at `at` or the clock before can be issued at `at`.
bool ChannelEngine::can_refresh(unsigned pseudo_channel, Clock at) const {
  const int lane = refresh_lane(pseudo_channel);
  return !queue_.bank(lane).open && bank_refresh_limit(pseudo_channel) <= at;
}

// Per-bank refreshes of an idle channel up to `until`, as long as nothing holds them up: of two
// that fall due together the second is issued a clock later. No candidates need looking after.
[[gnu::noinline]] void ChannelEngine::refresh_idle(Clock until) {
  if (refresh_[0].pending || refresh_[1].pending) return;
  if (std::min(refresh_[0].due, refresh_[1].due) < now_) return;
  for (Clock due = next_refresh_; due < until; due = next_refresh_) {
    follow(due);
    if (std::max(now_, row_bus_free_) > due) break;
    const bool first = refresh_[0].due == due;
    const bool second = refresh_[1].due == due;
    const Clock second_at = first ? due + 1 : due;
    if ((first && !can_refresh(0, due)) || (second && !can_refresh(1, second_at))) break;
    for (unsigned p = first ? 0 : 1; p < (second ? 2U : 1U); ++p) {
      const Clock at = p == 1 ? second_at : due;
      fall_due(p);
      refresh_one_bank(p, at);
      row_bus_free_ = now_ = at + 1;
    }
    next_refresh_ = std::min(refresh_[0].due, refresh_[1].due);
  }
}

// While nothing waits refreshes only count and close rows: those that are over before `until` are
// skipped, the last ones are simulated so that their timing holds.
[[gnu::noinline]] void ChannelEngine::skip_idle_refreshes(Clock until) {
  if (!idle()) return;
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    const Refresh& refresh = refresh_[p];
    if (refresh.pending || refresh.due < now_ || (!per_bank_ && any_open(p))) return;
  }
  const Clock interval = refresh_interval();
  Clock skipped = kNever;
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    const Clock due = until < refresh_[p].due ? 0 : (until - refresh_[p].due) / interval + 1;
    skipped = std::min(skipped, due - kept_refreshes_);
  }
  for (unsigned p = 0; p < t_.pseudo_channels && skipped > 0; ++p) {
    if (per_bank_) close_refreshed(p, skipped);
    refresh_[p].due += skipped * interval;
    counts_.refreshes += static_cast<std::uint64_t>(skipped);
  }
  schedule_refresh();
}

void ChannelEngine::close_refreshed(unsigned pseudo_channel, Clock refreshes) {
  queue_.open_rows().for_each([&](int lane) {
    if (pseudo_channel_of(lane) != pseudo_channel) return;
    if (turns_before(pseudo_channel, lane) >= refreshes) return;
    precharge(lane, now_);
    update_bank(lane);
    ++counts_.precharges;
  });
  take_turns(refresh_[pseudo_channel], refreshes);
}

}  // namespace npu::model::hbm
