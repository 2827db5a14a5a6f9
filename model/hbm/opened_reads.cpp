// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/opened_reads.hpp"

#include <algorithm>

namespace npu::model::hbm {
namespace {

constexpr int kUnknown = NextCommand::kUnknown;

// What a bank offers on the row bus, as a search finds it.
Candidates::Foremost row_candidate(const RequestQueue& queue, int lane) {
  const Bank& bank = queue.bank(lane);
  return Candidates::foremost_of(queue.at(bank.lists[0].miss).age,
                                 bank.open ? RowBus::kPre : RowBus::kAct);
}

}  // namespace

OpenedReads::OpenedReads(CommandScheduler& commands, RefreshUnit& refresh, Clock from, Clock until)
    : commands_(commands),
      refresh_(refresh),
      from_(from),
      horizon_(std::min(until, from + kAhead)) {}

Clock OpenedReads::next_decision() const {
  const Clock command = std::min(commands_.rows().next().at, commands_.columns().next().at);
  return std::min(command, refresh_.next());
}

bool OpenedReads::decide() {
  commands_.follow(from_);
  if (!commands_.refreshes().per_bank()) horizon_ = std::min(horizon_, refresh_.next() - 1);
  const ColumnBus& columns = commands_.columns();
  for (int lane = columns.first_activated(); lane != LaneList::kEnd; lane = columns.behind(lane)) {
    ends_before_hits_of(commands_.queue().bank(lane));
  }
  if (horizon_ < from_) return false;
  if (refresh_.next() <= horizon_) commands_.refreshes().prefetch();
  commands_.reporter().note();
  open_rows();
  commands_.reporter().tell_noted();
  commands_.set_next_activated();
  return next_decision() > from_;  // a row hit may have moved the horizon before its first command
}

// PRE, ACT and per-bank refreshes, and the RDs within the time.
void OpenedReads::open_rows() {
  const Constraints& limits = commands_.timing().limits();
  for (bool served = true;;) {
    // Until the first bank whose RD is not decided yet might be closed again.
    const int first = commands_.columns().first_activated();
    const Clock row_at = commands_.rows().next().at;
    const Clock closed = first == LaneList::kEnd ? row_at + limits.act_to_pre
                                                 : commands_.queue().bank(first).clocks.pre;
    issue_rows(std::min(refresh_.next(), served ? closed : row_at + 1));
    const Clock at = std::min(commands_.rows().next().at, refresh_.next());
    served = serve_activated(at > horizon_ ? horizon_ : at + limits.act_to_column[0] - 1);
    if (served) continue;  // what they offer may come earlier
    if (at > horizon_) return;
    if (at != refresh_.next()) continue;
    commands_.not_before(at);
    refresh_.step(commands_, at);
    served = true;
  }
}

// The commands of the row bus before `stop` and up to the horizon.
void OpenedReads::issue_rows(Clock stop) {
  const RequestQueue& queue = commands_.queue();
  const RowBus& rows = commands_.rows();
  NextCommand next = rows.next();
  stop = std::min(stop, horizon_ + 1);
  Candidates::Foremost found{};
  if (next.lane != kUnknown) found = row_candidate(queue, next.lane);
  while (next.at < stop) {
    if (next.lane == kUnknown) {
      const auto first = rows.first(next.at);
      next = {first.time, first.age < 0 ? kUnknown : queue.lane_of_age(first.age)};
      if (next.at >= stop) break;
      found = row_candidate(queue, next.lane);
    }
    const Clock at = next.at;
    const int lane = next.lane;
    bool known = false;
    if (found.kind() == RowBus::kPre) {
      found = commands_.precharge_for_read(lane, at, found);
      known = rows.known_after_precharge();
    } else {
      found = commands_.activate_for_read(lane, at, found);
      known = rows.known_after_activate();
      if (ends_before_hits_of(queue.bank(lane))) stop = std::min(stop, horizon_ + 1);
    }
    commands_.come_to(at + 1);
    const int age = known ? found.age() : kUnknown;
    next = {rows.free(), age < 0 ? kUnknown : queue.lane_of_age(age)};
  }
  commands_.set_next_row(next);
}

// The RDs up to `last` of rows that are open. False: there were none.
bool OpenedReads::serve_activated(Clock last) {
  const RefreshSchedule& refreshes = commands_.refreshes();
  const ColumnBus& columns = commands_.columns();
  // What a refresh finds as it falls due must not be ahead of it.
  last = std::min({last, horizon_, refreshes.next_due() - 1});
  bool any = false;
  for (int lane = columns.first_activated(); lane != LaneList::kEnd;
       lane = columns.first_activated()) {
    Clock at = std::max(commands_.read_from(lane), columns.free());
    const int behind = columns.behind(lane);
    if (behind != LaneList::kEnd && commands_.queue().bank(behind).clocks.read <= at) {
      const NextCommand next = commands_.earliest_activated(columns.free());
      lane = next.lane;
      at = next.at;
    }
    if (at > last) return any;
    commands_.read_activated(lane, at);
    any = true;
    if (refreshes.gates(lane)) {  // the refresh has waited for this
      refresh_.schedule(commands_);
      if (!refreshes.per_bank()) last = horizon_ = std::min(horizon_, refresh_.next() - 1);
    } else {
      commands_.offer_precharge(lane, Traffic::kReads);
    }
  }
  return any;
}

}  // namespace npu::model::hbm
