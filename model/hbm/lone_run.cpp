// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/lone_run.hpp"

#include <algorithm>

namespace npu::model::hbm {

// The next refresh, due or pending, is of another bank, and the one behind it comes later.
bool LoneRun::passes_refreshes(const CommandScheduler& commands, const BurstTurns& bursts,
                               Clock at) {
  const RefreshSchedule& refreshes = commands.refreshes();
  const unsigned pseudo_channel = commands.layout().pseudo_channel_of(bursts.lane[0]);
  const Clock second = refreshes.due(pseudo_channel) + refreshes.interval();
  if (!refreshes.per_bank() || second - at <= 2 * Clock{bursts.count}) return false;
  for (unsigned i = 0; i < std::min(bursts.lanes, bursts.count); ++i) {
    const Bank& bank = commands.queue().bank(bursts.lane[i]);
    if (!bank.open || bank.row != bursts.row) return false;
    if (refreshes.lane(pseudo_channel) == bursts.lane[i]) return false;
  }
  return true;
}

LoneRun::LoneRun(CommandScheduler& commands, RefreshUnit& refresh, const BurstTurns& bursts,
                 Clock at)
    : commands_(commands),
      refresh_(refresh),
      bursts_(bursts),
      at_(at),
      turns_used_(std::min(bursts.lanes, bursts.count)) {
  commands_.expect_nothing();
  commands_.not_before(at + 1);
  commands_.follow(commands_.now());
  for (unsigned i = 0; i < turns_used_; ++i) {
    const int lane = bursts.lane[i];
    const Bank& bank = commands_.queue().bank(lane);
    const State closed = bank.open ? State::kPrecharge : State::kActivate;
    const bool hits = bank.open && bank.row == bursts.row;
    turns_[i] = {lane, i, hits ? State::kHits : closed};
    closed_ += hits ? 0 : 1;
  }
  for (unsigned i = 0; i < bursts.count; ++i) {
    const int lane = bursts.lane[i % bursts.lanes];
    commands_.account().queued(commands_.layout().pseudo_channel_of(lane), arrived(i));
  }
}

// Inlines what it calls, as ChannelEngine::decide().
[[gnu::flatten, gnu::noinline]] bool LoneRun::decide(Clock until) {
  for (;;) {
    const Clock last = std::min(until, refresh_.next() - 1);
    if (takes_turns()) issue_in_turn(last);
    const Next column = next_column();
    const Next row = next_row();
    if (std::min(column.at, row.at) > last) {
      if (std::min(column.at, row.at) == kNever) break;
      if (last != until) {
        if (!pass_refresh()) break;
      } else {
        commands_.expect_only_column(column.at);
        commands_.set_next_row({row.at, NextCommand::kUnknown});
        return false;
      }
    } else if (column.at <= row.at) {
      issue_column(column);
    } else {
      issue_row(row);
    }
  }
  hand_over();
  return true;
}

// Of several at one clock the oldest.
LoneRun::Next LoneRun::next_row() const {
  Next first;
  if (closed_ == 0) return first;
  const Clock free = commands_.rows().free();
  for (unsigned i = 0; i < turns_used_; ++i) {
    const Turn& turn = turns_[i];
    if (turn.state != State::kPrecharge && turn.state != State::kActivate) continue;
    const BankClocks& bank = commands_.queue().bank(turn.lane).clocks;
    const Clock allowed = turn.state == State::kPrecharge
                              ? bank.pre
                              : commands_.timing().activate_from(bank, turn.lane);
    const Clock at = std::max({allowed, arrived(turn.next), free});
    if (at < first.at) first = {at, i};
  }
  return first;
}

// Of several at one clock one that an ACT was issued for, or else the oldest.
LoneRun::Next LoneRun::next_column() const {
  Next first;
  bool opened = false;
  const Clock free = commands_.columns().free();
  for (unsigned i = 0; i < turns_used_; ++i) {
    const Turn& turn = turns_[i];
    if (turn.state < State::kOpened || turn.next >= bursts_.count) continue;
    const BankClocks& bank = commands_.queue().bank(turn.lane).clocks;
    const Clock allowed = commands_.columns().from(
        turn.lane, bursts_.write, commands_.timing().column_from(bank, turn.lane, bursts_.write));
    const Clock at = std::max({allowed, arrived(turn.next), free});
    const bool own = turn.state == State::kOpened;
    const bool before = own != opened ? own : turn.next < turns_[first.turn].next;
    if (at > first.at || (at == first.at && !before)) continue;
    first = {at, i};
    opened = own;
  }
  return first;
}

// Whether all banks have the row, and the next bursts are one of each.
bool LoneRun::takes_turns() const {
  if (closed_ != 0) return false;
  unsigned first = bursts_.count;
  for (unsigned i = 0; i < turns_used_; ++i) first = std::min(first, turns_[i].next);
  for (unsigned i = 0; i < turns_used_; ++i) {
    if (turns_[i].state != State::kHits || turns_[i].next >= first + turns_used_) return false;
  }
  return first < bursts_.count;
}

// One of other banks is nothing to RDs and WRs of open rows.
bool LoneRun::pass_refresh() {
  const RefreshSchedule& refreshes = commands_.refreshes();
  if (closed_ != 0 || !refreshes.per_bank()) return false;
  const int lane = refreshes.lane(commands_.layout().pseudo_channel_of(turns_[0].lane));
  for (unsigned i = 0; i < turns_used_; ++i) {
    if (turns_[i].lane == lane) return false;
  }
  const Clock at = refresh_.next();
  commands_.not_before(at);
  refresh_.step(commands_, at);
  commands_.expect_nothing();
  return true;
}

// The bursts in order, as long as none comes before an older one. Of what each forbids to the
// others of a bank only the last one counts behind them.
void LoneRun::issue_in_turn(Clock last) {
  const bool write = bursts_.write;
  const Constraints& limits = commands_.timing().limits();
  const Clock group = write ? limits.group_write_to_write : limits.group_read_to_read;
  const Clock bus = std::max<Clock>(limits.columns[write ? 1 : 0][write ? 1 : 0], 1);
  // Once each bank has had a turn at the pace of the bus, nothing else holds one back.
  const bool keeps_pace = group <= bus * turns_used_ && commands_.account().follows(bus);
  Clocks allowed{}, served{};
  Clock from = commands_.columns().free();
  unsigned burst = bursts_.count;
  for (unsigned i = 0; i < turns_used_; ++i) {
    const int lane = turns_[i].lane;
    const Clock bank =
        commands_.timing().column_from(commands_.queue().bank(lane).clocks, lane, write);
    allowed[i] = commands_.columns().from(lane, write, bank);
    served[i] = kNever;
    burst = std::min(burst, turns_[i].next);
  }
  const auto first = [&](unsigned of) {
    return std::max({allowed[of % turns_used_], arrived(of), from});
  };
  const unsigned begin = burst;
  unsigned paced = 0;
  for (; burst < bursts_.count; ++burst) {
    const Clock at = first(burst);
    if (at > last) break;
    bool oldest = true;
    for (unsigned i = burst + 1; i < burst + turns_used_ && i < bursts_.count; ++i) {
      oldest &= first(i) >= at;
    }
    if (!oldest) break;
    const unsigned turn = burst % turns_used_;
    paced = at == from ? paced + 1 : 1;
    commands_.count_alone(request_of(turns_[turn]), turns_[turn].lane, at);
    turns_[turn].next += bursts_.lanes;
    served[turn] = at;
    allowed[turn] = at + group;
    from = at + bus;
    if (!keeps_pace || paced < turns_used_) continue;
    burst = follow(burst, at, last, bus, served);
    from = served[burst % turns_used_] + bus;
  }
  if (burst == begin) return;
  commands_.account().done(served[(burst - 1) % turns_used_], bursts_.tag, write, burst - begin);
  for (unsigned i = burst; i < burst + turns_used_; ++i) {
    const unsigned turn = i % turns_used_;
    if (served[turn] != kNever) commands_.settle_alone(turns_[turn].lane, write, served[turn]);
  }
}

// The bursts behind one at `at`, each `apart` from the one before; the last one that comes by
// `last`.
unsigned LoneRun::follow(unsigned burst, Clock at, Clock last, Clock apart, Clocks& served) {
  const auto in_time = std::min<Clock>((last - at) / apart, bursts_.count - burst - 1);
  const unsigned end = burst + static_cast<unsigned>(in_time);
  const auto clock_of = [&](unsigned of) { return at + (Clock{of} - burst) * apart; };
  if (commands_.reporter().watched()) {
    const auto kind = bursts_.write ? CommandKind::kWrite : CommandKind::kRead;
    for (unsigned i = burst + 1; i <= end; ++i) {
      commands_.reporter().report(kind, turns_[i % turns_used_].lane, bursts_.row, clock_of(i));
    }
  }
  commands_.account().followed(commands_.layout().pseudo_channel_of(turns_[0].lane), bursts_.write,
                               clock_of(end), end - burst);
  for (unsigned i = end + 1 - turns_used_; i <= end; ++i) {
    served[i % turns_used_] = clock_of(i);
    turns_[i % turns_used_].next = i + bursts_.lanes;
  }
  return end;
}

Request LoneRun::request_of(const Turn& turn) const {
  Request request{};
  request.tag = bursts_.tag;
  request.write = bursts_.write;
  request.arrived = arrived(turn.next) - 1;
  request.activated = turn.state == State::kOpened;
  return request;
}

void LoneRun::issue_row(const Next& next) {
  Turn& turn = turns_[next.turn];
  last_row_ = next.at;
  if (turn.state == State::kPrecharge) {
    commands_.precharge_alone(turn.lane, next.at);
    turn.state = State::kActivate;
  } else {
    commands_.activate_alone(turn.lane, bursts_.row, next.at);
    turn.state = State::kOpened;
    opened_[opened_used_++] = next.turn;
    --closed_;
  }
}

void LoneRun::issue_column(const Next& next) {
  Turn& turn = turns_[next.turn];
  commands_.serve_alone(request_of(turn), turn.lane, next.at);
  turn.state = State::kHits;
  turn.next += bursts_.lanes;
}

// All bursts from one on wait in the queue.
void LoneRun::append_from(unsigned first) {
  BurstTurns rest = bursts_;
  rest.count -= first;
  for (unsigned i = 0; i < bursts_.lanes; ++i)
    rest.lane[i] = bursts_.lane[(first + i) % bursts_.lanes];
  commands_.append_turns(rest, arrived(first) - 1, Traffic::kAny);
}

// As if from the start is what is known of the row bus, too: a PRE or ACT is followed by the search
// for the next one, and a refresh may make that later.
void LoneRun::hand_over() {
  commands_.expect_nothing();
  commands_.serves_alone(bursts_.write);
  std::array<unsigned, kMaxLanes> next{};
  unsigned first = bursts_.count;
  bool sought = closed_ != 0;
  for (unsigned i = 0; i < turns_used_; ++i) {
    next[i] = turns_[i].next;
    first = std::min(first, next[i]);
    if (turns_[i].state < State::kOpened) sought &= arrived(next[i]) <= last_row_;
  }
  unsigned single = first;  // up to where some are served
  for (unsigned i = 0; i < turns_used_; ++i) {
    if (next[i] >= first + turns_used_) single = bursts_.count;
  }
  if (single < bursts_.count) append_from(first);
  for (unsigned i = first; i < single; ++i) {
    const unsigned turn = i % bursts_.lanes;
    if (i < next[turn]) continue;  // served
    const auto lane = static_cast<std::uint16_t>(turns_[turn].lane);
    commands_.append({bursts_.row, bursts_.tag, lane, bursts_.write}, arrived(i) - 1,
                     Traffic::kAny);
  }
  for (unsigned i = 0; i < opened_used_; ++i) {
    const Turn& turn = turns_[opened_[i]];
    if (turn.state == State::kOpened) commands_.wait_for_activated(turn.lane);
  }
  if (sought) commands_.find_next_row();
}

}  // namespace npu::model::hbm
