// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/refresh_schedule.hpp"

namespace npu::model::hbm {

RefreshSchedule::RefreshSchedule(const HbmTimings& timings, const ChannelLayout& layout,
                                 bool together)
    : per_bank_(timings.trfc_pb != 0),
      together_(together),
      rated_interval_(per_bank_ ? timings.trefi_pb : timings.trefi),
      interval_(rated_interval_),
      duration_(per_bank_ ? timings.trfc_pb : timings.trfc),
      layout_(layout) {
  for (unsigned p = 0; p < layout.pseudo_channels(); ++p) {
    turns_[p].due = p == 1 && !together ? interval_ - interval_ / 2 : interval_;
  }
  for (int lane = 0; lane < layout.lanes(); ++lane) {
    const int place = layout.stack_of(lane) * layout.banks_per_rank() + layout.in_rank(lane);
    place_[static_cast<std::size_t>(lane)] = static_cast<std::int16_t>(place);
  }
}

void RefreshSchedule::set_pace(Clock pace) {
  interval_ = std::max(rated_interval_ / pace, Clock{1});
  for (Turn& turn : turns_) {
    if (turn.pending) turn.behind = turn.due + interval_;
  }
}

bool RefreshSchedule::gates_lane(int lane) const {
  const unsigned pseudo_channel = layout_.pseudo_channel_of(lane);
  if (per_bank_) return turns_[pseudo_channel].pending && this->lane(pseudo_channel) == lane;
  return together_ ? pending() : turns_[pseudo_channel].pending;
}

RefreshSchedule::Lanes RefreshSchedule::lanes_of_last(unsigned pseudo_channel) const {
  const int last = last_[pseudo_channel];
  if (per_bank_) return {last, last + 1};
  return {layout_.first_lane(pseudo_channel), layout_.end_lane(pseudo_channel)};
}

Clock RefreshSchedule::turns_before(int lane) const {
  const auto place = [this](int of) { return place_[static_cast<std::size_t>(of)]; };
  const int banks = layout_.banks_per_rank() * layout_.stacks();
  const int next = this->lane(layout_.pseudo_channel_of(lane));
  return (place(lane) - place(next) + banks) % banks;
}

void RefreshSchedule::fall_due(unsigned pseudo_channel) {
  Turn& turn = turns_[pseudo_channel];
  turn.pending = true;
  turn.behind = turn.due + interval_;
  if (per_bank_) last_[pseudo_channel] = lane(pseudo_channel);
  windows_of_last(pseudo_channel).fall_due(turn.due);
}

void RefreshSchedule::finish(unsigned pseudo_channel, Clock end) {
  Turn& turn = turns_[pseudo_channel];
  if (per_bank_) take_turns(turn, 1);
  turn.due += interval_;
  turn.pending = false;
  turn.behind = turn.due;
  windows_of_last(pseudo_channel).finish(end);
}

void RefreshSchedule::pass(unsigned pseudo_channel, Clock end) {
  Turn& turn = turns_[pseudo_channel];
  last_[pseudo_channel] = lane(pseudo_channel);
  RefreshWindows& windows = windows_of_last(pseudo_channel);
  windows.fall_due(turn.due);
  windows.finish(end);
  take_turns(turn, 1);
  turn.due += interval_;
  turn.behind = turn.due;
}

void RefreshSchedule::skip(unsigned pseudo_channel, Clock refreshes) {
  Turn& turn = turns_[pseudo_channel];
  if (per_bank_) take_turns(turn, refreshes);
  turn.due += refreshes * interval_;
}

// With that of its bank which is due behind the pending one of another.
RefreshWindows RefreshSchedule::windows_of(int lane, Clock now) const {
  const unsigned number = layout_.pseudo_channel_of(lane);
  if (!per_bank_) return windows_[static_cast<std::size_t>(layout_.first_lane(number))];
  RefreshWindows windows = windows_[static_cast<std::size_t>(lane)];
  const Clock due = turns_[number].due + interval_ * turns_before(lane);
  if (due <= now) windows.fall_due(due);
  return windows;
}

// Per-bank refresh goes round the banks; lanes that pad a rank have no turn.
void RefreshSchedule::take_turns(Turn& turn, Clock turns) const {
  const int lanes = layout_.lanes_per_pseudo_channel();
  if (layout_.banks_per_rank() == layout_.lanes_per_rank()) {
    const Clock next = turn.next_lane + turns;
    turn.next_lane = static_cast<int>(next < lanes ? next : next % lanes);
    return;
  }
  for (turns %= layout_.banks_per_rank() * layout_.stacks(); turns > 0; --turns) {
    do {
      turn.next_lane = (turn.next_lane + 1) % lanes;
    } while (layout_.in_rank(turn.next_lane) >= layout_.banks_per_rank());
  }
}

void RefreshSchedule::prefetch() const {
  for (unsigned p = 0; p < layout_.pseudo_channels(); ++p) {
    const auto& windows = windows_[static_cast<std::size_t>(lane(p))];
    __builtin_prefetch(&windows, 1);
    __builtin_prefetch(&windows + 1, 1);  // it need not begin with a cache line
  }
}

}  // namespace npu::model::hbm
