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
      feed_ahead(until);
      continue;
    }
    engine_->advance(at);
    if (engine_->room(run.write)) {
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
  const Clock last = std::min(until, engine_->ahead_until());
  Burst burst = next_burst();
  for (unsigned room = engine_->read_room(); room != 0; --room) {
    const Clock at = std::max(backlog_[first_].arrived, next_feed_);
    if (at > last || burst.write) return;
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

Burst Channel::next_burst() {
  const BurstRun& run = backlog_[first_];
  if (const std::uint32_t row = map_->row(run.index); row != row_) {
    row_ = row;
    turned_over_ = map_->turned_over(row);
  }
  return {row_, run.tag, map_->lane(run.index, turned_over_), run.write};
}

void Channel::fed(Clock at) {
  BurstRun& run = backlog_[first_];
  next_feed_ = at + 1;
  ++run.index;
  if (--run.count != 0) return;
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
