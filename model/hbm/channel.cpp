// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel.hpp"

namespace npu::model::hbm {

// Inlines what it calls: that is what a burst's time is spent on.
[[gnu::flatten]] void Channel::advance(Clock until) {
  while (!empty()) {
    const BurstRun& run = backlog_[first_];
    const Clock at = std::max(run.arrived, next_feed_);
    if (at > until) break;
    if (engine_->takes_ahead(run.write, at)) {
      if (map_->interleave() > 2) {
        feed_turns_ahead(until);
      } else {
        feed_ahead(until);
      }
      continue;
    }
    engine_->advance(at);
    engine_->end_run();
    const bool may_be_alone = run.count > 2 && map_->interleave() > 2 && engine_->takes_runs();
    const unsigned at_one_go = may_be_alone ? feed_idle(at, until) : 0;
    if (at_one_go != 0) {
      fed(at, at_one_go);
    } else if (engine_->room(run.write)) {
      engine_->enter(next_burst(), at);
      fed(at);
    } else {
      next_feed_ = engine_->next_decision();
    }
  }
  engine_->advance(until);
}

// As many as may be taken before their time.
void Channel::feed_ahead(Clock until) {
  Burst burst = next_burst();
  const bool write = burst.write;
  for (unsigned room = engine_->room_alone(write); room != 0; --room) {
    const Clock at = std::max(backlog_[first_].arrived, next_feed_);
    if (at > std::min(until, engine_->ahead_until(write)) || burst.write != write) return;
    fed(at);
    const Burst now = burst;
    if (!empty()) {
      burst = next_burst();
      engine_->prefetch(burst.lane);
    }
    engine_->enter_ahead(now, at);
    if (empty()) return;
  }
}

// The same where many of them lie in one row of each of a few banks.
void Channel::feed_turns_ahead(Clock until) {
  const bool write = backlog_[first_].write;
  for (unsigned room = engine_->room_alone(write); room != 0 && !empty();) {
    const BurstRun& run = backlog_[first_];
    const Clock at = std::max(run.arrived, next_feed_);
    const Clock last = std::min(until, engine_->ahead_until(write));
    if (at > last || run.write != write) return;
    BurstTurns turns = next_turns();
    // While they come no more than they can be served.
    const auto in_time = static_cast<unsigned>((write ? until : last) - at + 1);
    turns.count = std::min({turns.count, room, in_time});
    room -= turns.count;
    fed(at, turns.count);
    engine_->enter_ahead(turns, at);
  }
}

// Those that come next in one row of each of a few banks.
BurstTurns Channel::next_turns() {
  const BurstRun& run = backlog_[first_];
  const Burst first = next_burst();
  const auto left = map_->interleave() - static_cast<unsigned>(run.index % map_->interleave());
  const unsigned count = std::min({run.count, left, BurstTurns::kMaxCount});
  BurstTurns turns{first.row, first.tag, first.write, count, map_->lanes_in_turn(), {first.lane}};
  if (turns.lanes > BurstTurns::kMaxLanes) turns.lanes = turns.count = 1;
  for (unsigned i = 1; i < turns.lanes; ++i) {
    turns.lane[i] = map_->lane(run.index + i, turned_over_);
  }
  return turns;
}

Burst Channel::next_burst() {
  const BurstRun& run = backlog_[first_];
  if (const std::uint32_t row = map_->row(run.index); row != row_) {
    row_ = row;
    turned_over_ = map_->turned_over(row);
  }
  return {row_, run.tag, map_->lane(run.index, turned_over_), run.write};
}

// As many as an idle channel takes at one go.
[[gnu::noinline]] unsigned Channel::feed_idle(Clock at, Clock until) {
  const BurstRun& run = backlog_[first_];
  const BurstTurns bursts = next_turns();
  // What comes behind them.
  const bool last = first_ + 1 == backlog_.size();
  const Clock behind = at + bursts.count;
  const Clock next = bursts.count < run.count ? behind
                     : last                   ? kNever
                                              : std::max(backlog_[first_ + 1].arrived, behind);
  return engine_->enter_run(bursts, at, std::min(until, next));
}

void Channel::fed(Clock at, unsigned bursts) {
  BurstRun& run = backlog_[first_];
  next_feed_ = at + bursts;
  run.index += bursts;
  run.count -= bursts;
  if (run.count != 0) return;
  if (++first_ == backlog_.size()) {
    backlog_.clear();
    first_ = 0;
  } else if (first_ >= 256 && first_ * 2 >= backlog_.size()) {
    backlog_.erase(backlog_.begin(), backlog_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

Clock Channel::earliest_service() {
  const Clock queued = engine_->earliest_service();
  if (empty()) return queued;
  const BurstRun& run = backlog_[first_];
  // Into a full queue it comes only after something has left it.
  const Clock enters =
      engine_->room(run.write) ? std::max(run.arrived, next_feed_) : engine_->next_decision();
  return std::min(queued, enters + 1);
}

}  // namespace npu::model::hbm
