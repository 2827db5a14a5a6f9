// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel.hpp"

namespace npu::model::hbm {

// Makes the next decision or takes the next burst in; false if there is none up to `until`.
// Inlines what it calls, as ChannelEngine::decide().
[[gnu::flatten]] bool Channel::step(Clock until) {
  const Clock decision = engine_.next_decision();
  Clock idle_until = until;
  if (!empty()) {
    const BurstRun& run = backlog_[first_];
    const Clock at = std::max(run.arrived, next_feed_);
    idle_until = std::min(until, at);  // what comes then finds no later refresh in its way
    if (at <= until && decision > at) {
      if (engine_.room(run.write)) {
        feed(at);
        return true;
      }
      next_feed_ = decision;
    }
  }
  if (decision > until) return false;
  engine_.decide_next(std::max(idle_until, decision));
  return true;
}

void Channel::advance(Channel& a, Channel& b, Clock until) {
  bool more_a = true, more_b = true;
  while (more_a && more_b) {
    more_a = a.step(until);
    more_b = b.step(until);
  }
  if (more_a) a.advance(until);
  if (more_b) b.advance(until);
}

void Channel::feed(Clock at) {
  BurstRun& run = backlog_[first_];
  const Location where = map_.locate(run.index);
  const auto lane = engine_.lane(where.pseudo_channel, where.stack, where.group, where.bank);
  engine_.accept({where.row, run.tag, lane, run.write}, at);
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

Clock Channel::earliest_service() const {
  const Clock queued = engine_.earliest_service();
  if (empty()) return queued;
  const BurstRun& run = backlog_[first_];
  // Into a full queue it comes only after something has left it.
  const Clock enters =
      engine_.room(run.write) ? std::max(run.arrived, next_feed_) : engine_.next_decision();
  return std::min(queued, enters + 1);
}

}  // namespace npu::model::hbm
