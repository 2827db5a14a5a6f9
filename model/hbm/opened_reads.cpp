// SPDX-License-Identifier: Apache-2.0
// Reads alone, each of a row of its own (random accesses). The row bus is decided command by
// command; the RDs follow their ACTs by tRCD or little more, so that an RD is known once no later
// ACT can bring one before it, mostly together with its own ACT. Nothing it allows or forbids
// concerns the row bus before. So all up to the next refresh or arrival is decided at one go, the
// row bus leading. The same commands at the same clocks as the general way gives them.
#include <algorithm>

#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

// Decides what comes up to `until` or, if that is earlier, before a row hit or an all-bank refresh;
// false: that comes first, or next.
bool ChannelEngine::decide_opened_reads(Clock until) {
  const Clock from = next_decision();
  follow(from);
  Clock horizon = std::min(until, from + kAhead);
  if (!per_bank_) horizon = std::min(horizon, next_refresh_ - 1);
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.behind(lane)) {
    const Bank& bank = queue_.bank(lane);
    if (bank.lists[0].hit != kNoRequest) horizon = std::min(horizon, bank.read - 1);
  }
  if (horizon < from) return false;
  if (next_refresh_ <= horizon) prefetch_refreshes();
  noting_ = observer_ != nullptr;
  open_rows(horizon);
  if (noting_) report_noted();
  now_ = std::max(now_, column_bus_free_);
  column_ = first_activated(column_bus_free_);
  return next_decision() > from;  // a row hit may have moved the horizon before its first command
}

// What a refresh that falls due will ask for, of a bank that has long not been looked at.
void ChannelEngine::prefetch_refreshes() const {
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    const auto& windows = refreshes_[static_cast<std::size_t>(refresh_lane(p))];
    __builtin_prefetch(&windows, 1);
    __builtin_prefetch(&windows + 1, 1);  // it need not begin with a cache line
  }
}

// PRE, ACT and per-bank refreshes, and the RDs within the time. `horizon` moves before an RD with a
// row hit behind it, which is to be offered then.
void ChannelEngine::open_rows(Clock& horizon) {
  for (bool served = true;;) {
    // Until the first bank whose RD is not decided yet might be closed again.
    const int first = activated_.first();
    const Clock closed =
        first == LaneList::kEnd ? row_.at + limits_.act_to_pre : queue_.bank(first).pre;
    issue_rows(std::min(next_refresh_, served ? closed : row_.at + 1), horizon);
    const Clock at = std::min(row_.at, next_refresh_);
    served = serve_activated(at > horizon ? horizon : at + limits_.act_to_column[0] - 1, horizon);
    if (served) continue;  // what they offer may come earlier
    if (at > horizon) return;
    if (at != next_refresh_) continue;
    now_ = std::max(now_, at);
    step_refresh(at);
    served = true;
  }
}

Candidates::Foremost ChannelEngine::row_candidate(int lane) const {
  const Bank& bank = queue_.bank(lane);
  return Candidates::foremost_of(queue_.at(bank.lists[0].miss).age, bank.open ? kPre : kAct);
}

// The commands of the row bus before `stop` and up to `horizon`.
void ChannelEngine::issue_rows(Clock stop, Clock& horizon) {
  Next next = row_;
  stop = std::min(stop, horizon + 1);
  Candidates::Foremost found{};
  if (next.lane != kUnknown) found = row_candidate(next.lane);
  while (next.at < stop) {
    if (next.lane == kUnknown) {
      const auto first = rows_.first_row(next.at, 0);
      next = {first.time, first.age < 0 ? kUnknown : queue_.lane_of_age(first.age)};
      if (next.at >= stop) break;
      found = row_candidate(next.lane);
    }
    const Clock at = next.at;
    const int lane = next.lane;
    bool known = false;
    // What follows mostly does not depend on what this one changes, and so need not wait for it.
    if (found.kind() == kPre) {
      row_bus_free_ = at + 1;
      found = rows_.another_row(row_bus_free_, found);
      precharge_for_read(lane, at);
      known = long_trp_;
    } else {
      row_bus_free_ = at + 1 + act_extra_;
      found = rows_.another_row(row_bus_free_, found, lanes_of_[pseudo_channel_of(lane)]);
      activate_for_read(lane, at);
      known = long_trrd_;
      const Bank& bank = queue_.bank(lane);
      if (bank.lists[0].hit != kNoRequest) {
        horizon = std::min(horizon, bank.read - 1);
        stop = std::min(stop, horizon + 1);
      }
    }
    now_ = at + 1;
    const int age = known ? found.age() : kUnknown;
    next = {row_bus_free_, age < 0 ? kUnknown : queue_.lane_of_age(age)};
  }
  row_ = next;
}

// The RDs up to `last` of rows that are open. False: there were none.
bool ChannelEngine::serve_activated(Clock last, Clock& horizon) {
  last = std::min({last, horizon, before_refresh()});
  bool any = false;
  for (int lane = activated_.first(); lane != LaneList::kEnd; lane = activated_.first()) {
    Clock at = std::max(column_from(lane, false), column_bus_free_);
    const int behind = activated_.behind(lane);
    if (behind != LaneList::kEnd && queue_.bank(behind).read <= at) {
      const Next next = first_activated(column_bus_free_);
      lane = next.lane;
      at = next.at;
    }
    if (at > last) return any;
    Bank& bank = queue_.bank(lane);
    const Slot slot = bank.opened;
    bank.opened = kNoRequest;
    activated_.remove(lane);
    --opened_;
    read_opened(lane, slot, at);
    any = true;
    if (gated(lane)) {  // the refresh has waited for this
      schedule_refresh();
      if (!per_bank_) last = horizon = std::min(horizon, next_refresh_ - 1);
    } else {
      offer_precharge(lane, bank.lists[0].miss);  // if there is none, never
    }
  }
  return any;
}

// The last clock before another refresh falls due: what it finds must not be ahead of it.
Clock ChannelEngine::before_refresh() const {
  const auto due = [this](const Refresh& refresh) {
    return refresh.pending ? refresh.due + refresh_interval() : refresh.due;
  };
  return std::min(due(refresh_[0]), due(refresh_[1])) - 1;
}

void ChannelEngine::precharge_for_read(int lane, Clock at) {
  if (observer_) report(CommandKind::kPrecharge, lane, 0, at);
  Bank& bank = queue_.bank(lane);
  const Clock closed = at + limits_.pre_to_act;
  const Clock others = std::max({bank.act, group(lane).act, pseudo_channel(lane).act});
  // What is known before the lane is goes first: the next search waits for this.
  rows_.becomes_one(lane, closed);
  if (others > closed) rows_.becomes_one(lane, others);
  raise(bank.act, closed);
  bank.open = false;
  bank.lists[0].miss = bank.lists[0].head;  // there are no hits
  ++counts_.precharges;
}

void ChannelEngine::activate_for_read(int lane, Clock at) {
  Bank& bank = queue_.bank(lane);
  const Slot slot = bank.lists[0].miss;
  Request& request = queue_.at(slot);
  if (observer_) report(CommandKind::kActivate, lane, request.row, at);
  request.activated = true;
  activate(lane, at);
  queue_.unlink_first(slot, false);
  queue_.open_row(lane, request.row);
  ++counts_.activates;
  bank.opened = slot;
  activated_.add(lane);
  ++opened_;
}

// The RD of a request whose row an ACT has opened.
void ChannelEngine::read_opened(int lane, Slot slot, Clock at) {
  const Request& request = queue_.at(slot);
  if (observer_) report(CommandKind::kRead, lane, request.row, at);
  account(request, lane, at, Traffic::kReads);
  after_read(lane, at);
  done_.emplace_back(at, request.tag, false);
  column_bus_free_ = at + 1;
  queue_.release(slot, false);
}

}  // namespace npu::model::hbm
