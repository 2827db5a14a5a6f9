// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/run_planner.hpp"

#include <algorithm>

namespace npu::model::hbm {
namespace {

// That a piece waits for one after the other.
constexpr unsigned kMostRefreshes = 4;

// Bursts with consecutive indices until the first of their banks comes again. An interleave takes
// turns among a few groups; where it is one burst so do all groups of both pseudo channels.
Clock turn_of(const HbmConfig& config, const AddressMap& map) {
  if (map.interleave() > 1) return std::min(config.interleave_groups, map.interleave());
  return Clock{config.timings.pseudo_channels} * config.timings.bank_groups;
}

// Bursts from a multiple of so many on touch one row of each bank.
Clock stretch_of(const HbmConfig& config, const AddressMap& map) {
  if (map.interleave() > 1) return map.interleave();
  return turn_of(config, map) * static_cast<Clock>(config.timings.row / config.timings.burst);
}

}  // namespace

RunPlanner::RunPlanner(const HbmConfig& config, const AddressMap& map)
    : map_(map),
      layout_(config.timings),
      limits_(config.timings),
      kinds_{kind(false, config), kind(true, config)},
      turn_(turn_of(config, map)),
      turn_shift_(static_cast<unsigned>(__builtin_ctzll(static_cast<std::uint64_t>(turn_)))),
      stretch_(stretch_of(config, map)),
      split_(config.policy == HbmPolicy::kSplitQueues),
      burst_clocks_(config.timings.burst_clocks),
      act_window_(std::max(limits_.any_act_to_act, (limits_.four_acts + 3) / 4)),
      act_clocks_(config.timings.act_clocks),
      per_bank_(config.timings.trfc_pb != 0),
      refresh_interval_(per_bank_ ? config.timings.trefi_pb : config.timings.trefi),
      refresh_clocks_(per_bank_ ? config.timings.trfc_pb : config.timings.trfc),
      banks_(static_cast<std::size_t>(layout_.lanes())),
      groups_(layout_.group_of(layout_.lanes() - 1) + 1),
      by_others_(static_cast<std::size_t>(layout_.stacks())),
      reads_(config.read_queue),
      writes_(config.write_queue) {
  const Clock turns = layout_.banks_per_rank() * layout_.stacks();
  bank_period_ = turns * refresh_interval_;
  for (unsigned p = 0; p < layout_.pseudo_channels(); ++p) {
    const Clock earlier = p == 1 && !split_ ? refresh_interval_ / 2 : 0;
    first_refresh_[p] = refresh_interval_ - earlier;
    if (!per_bank_) buses_[p].refresh = first_refresh_[p];
  }
  for (int lane = 0; per_bank_ && lane < layout_.lanes(); ++lane) {
    const Clock place = layout_.stack_of(lane) * layout_.banks_per_rank() + layout_.in_rank(lane);
    banks_[static_cast<std::size_t>(lane)].refresh =
        first_refresh_[layout_.pseudo_channel_of(lane)] + place * refresh_interval_;
  }
}

RunPlanner::Kind RunPlanner::kind(bool write, const HbmConfig& config) const {
  const unsigned n = write ? 1 : 0;
  Kind kind{};
  kind.columns = limits_.columns[n][n];
  kind.apart = std::max(kind.columns, Clock{config.timings.burst_clocks});
  kind.of_other_stack = limits_.columns_of_other_stacks[n][n];
  kind.in_group = write ? limits_.group_write_to_write : limits_.group_read_to_read;
  kind.act_to_column = limits_.act_to_column[n];
  kind.to_pre = write ? limits_.write_to_pre : limits_.read_to_pre;
  return kind;
}

Clock RunPlanner::plan(const BurstRun& run) {
  Clock last = 0;
  std::uint64_t index = run.index;
  for (Clock left = run.count; left != 0;) {
    const Clock bursts = std::min(left, stretch_ - static_cast<Clock>(index & (stretch_ - 1)));
    last = std::max(last, plan(run, index, bursts));
    index += static_cast<std::uint64_t>(bursts);
    left -= bursts;
  }
  (run.write ? counts_.writes : counts_.reads) += run.count;
  return last;
}

// Bursts of one row of each bank that they touch, in one pseudo channel or in turn in both.
Clock RunPlanner::plan(const BurstRun& run, std::uint64_t first, Clock bursts) {
  std::array<Piece, 2> pieces;
  const Clock looked_at = std::min<Clock>(bursts, turn_);
  const std::uint32_t row = map_.row(first);
  const unsigned turned = map_.turned_over(row);
  for (Clock i = 0; i < looked_at; ++i) {
    const std::uint16_t lane = map_.lane(first + static_cast<std::uint64_t>(i), turned);
    __builtin_prefetch(&banks_[lane], 1);  // while there is a place in the queue to be found
    Piece& piece = pieces[layout_.pseudo_channel_of(lane)];
    piece.lanes[piece.groups++] = lane;
    // As many more as there are whole turns, and what is left of one.
    piece.bursts += ((bursts - 1 - i) >> turn_shift_) + 1;
  }
  WaitingRoom& queue = run.write && split_ ? writes_ : reads_;
  const Clock entered = queue.admit(std::max(run.arrived, port_));
  port_ = entered + bursts;
  Clock last = 0;
  for (Piece& piece : pieces) {
    if (piece.bursts == 0) continue;
    piece.row = row;
    piece.write = run.write;
    const Taken taken = plan(piece, entered + 1);
    queue.enter(static_cast<unsigned>(piece.bursts), (taken.first + taken.last) / 2);
    last = std::max(last, taken.last);
  }
  return last;
}

// Inlines what it calls: that is what a piece's time is spent on.
[[gnu::flatten]] RunPlanner::Taken RunPlanner::plan(Piece& piece, Clock from) {
  const int lane = piece.lanes[0];
  const unsigned pseudo_channel = layout_.pseudo_channel_of(lane);
  PseudoChannel& bus = buses_[pseudo_channel];
  ClockCalendar& stack = by_others_[static_cast<std::size_t>(layout_.stack_of(lane))];
  bus.taken.forget_before(from);
  stack.forget_before(from);
  if (from > bus.busy_until) {
    bus.idle += from - bus.busy_until;
    bus.busy_until = from;
  }
  const Start start = begin(piece.write, from, bus, stack);
  Clock earliest = start.column;
  if (earliest >= bus.refresh) earliest = std::max(earliest, refresh_all(pseudo_channel, earliest));
  earliest = open_all(piece, {from, start.decided, earliest}, bus);
  const Taken taken = take(piece, bus, stack, earliest);
  leave(piece);
  Clock& end = piece.write ? writes_end_ : reads_end_;
  end = std::max(end, taken.last);
  bus.busy_until = std::max(bus.busy_until, taken.last + burst_clocks_);
  bus.data += piece.bursts * burst_clocks_;
  return taken;
}

// From when on bursts of a kind are decided and served. Reads come first; writes wait until no read
// does, and are drained together.
RunPlanner::Start RunPlanner::begin(bool write, Clock from, const PseudoChannel& bus,
                                    const ClockCalendar& stack) {
  const auto free = [&] { return ClockCalendar::find(bus.taken, stack, from, 1).from; };
  if (write) {
    if (from >= writes_end_ || (reads_end_ > writes_end_ && free() >= writes_end_)) {
      writes_begin_ = std::max(from, reads_end_ + limits_.columns[0][1]);
    }
    const Clock column = std::max(from, writes_begin_);
    return {std::max(from, column - limits_.columns[0][1]), column};
  }
  const Clock turned = writes_end_ + limits_.columns[1][0];
  if (from >= turned || (from < writes_begin_ && free() < writes_begin_)) return {from, from};
  return {std::max(from, writes_end_), turned};
}

// The rows of a piece, one in each of its bank groups: from when on its RDs or WRs may come.
Clock RunPlanner::open_all(Piece& piece, const Wanted& wanted, PseudoChannel& bus) {
  const Kind& kind = kinds_[piece.write ? 1 : 0];
  const Clock groups = piece.groups;
  const Clock rounds = piece.bursts <= groups ? 1 : (piece.bursts + groups - 1) / groups;
  const Clock each = rounds * kind.in_group;
  // A refresh that falls due meanwhile comes before the last one.
  const Clock span = (piece.bursts - 1) * kind.columns;
  Clock earliest = wanted.earliest;
  Clock least = kNever;
  for (Clock i = 0; i < groups; ++i) {
    const int lane = piece.lanes[static_cast<std::size_t>(i)];
    Bank& bank = banks_[static_cast<std::size_t>(lane)];
    Group& group = groups_[layout_.group_of(lane)];
    // It is not opened before its turn: the ones before it take a clock pair each.
    const Clock turn = i * kind.columns;
    if (bank.refresh <= earliest) refresh_bank(bank, earliest);
    Clock ready = 0;
    // A bank that is refreshed all the time is served between two of its refreshes.
    for (unsigned tries = 0; true; ++tries) {
      const bool hit = open(bank, group, bus, piece.row, wanted);
      ready = std::max(bank.opened + kind.act_to_column, bank.column);
      const bool served_first = (!hit && piece.bursts == groups) || tries == kMostRefreshes;
      if (served_first || std::max(earliest, ready - turn) + span < bank.refresh) {
        earliest = std::max(earliest, ready - turn);
        break;
      }
      refresh_bank(bank, bank.refresh);
    }
    group.column = std::max(group.column, wanted.from);
    earliest = std::max(earliest, group.column - turn);
    piece.ready[static_cast<std::size_t>(i)] = std::max({wanted.earliest, ready, group.column});
    least = std::min(least, piece.ready[static_cast<std::size_t>(i)] - turn);
    group.column += each;
  }
  piece.ready_apart = earliest - std::max(least, wanted.earliest);
  return earliest;
}

// Clocks of the data bus for the piece, from `earliest` on.
RunPlanner::Taken RunPlanner::take(Piece& piece, PseudoChannel& bus, ClockCalendar& stack,
                                   Clock earliest) {
  const Kind& kind = kinds_[piece.write ? 1 : 0];
  const Clock apart = kind.apart;
  bus.column += piece.bursts * (apart - burst_clocks_);
  // Banks that are not ready together, or too few to follow each other at the pace of the bus.
  if (piece.ready_apart > 2 * apart || (piece.bursts > 1 && piece.groups * apart < kind.in_group)) {
    return take_in_turn(piece, bus, stack);
  }
  // Where bursts wait no gap is left that is too small for one.
  if (bus.busy_until > earliest) earliest = (earliest + apart - 1) / apart * apart;
  const Taken taken = take_in_a_row(kind, bus, stack, earliest, piece.bursts);
  Clock ready = taken.last + kind.in_group;
  for (std::size_t i = piece.groups; i-- > 0; ready -= apart) piece.ready[i] = ready;
  return taken;
}

// Each bank's bursts by themselves.
RunPlanner::Taken RunPlanner::take_in_turn(Piece& piece, PseudoChannel& bus, ClockCalendar& stack) {
  const Kind& kind = kinds_[piece.write ? 1 : 0];
  Taken taken{kNever, 0};
  // Of each bank the last ones, which hold others back without a gap.
  std::array<Taken, 16> last;
  std::fill_n(last.begin(), piece.groups, Taken{0, -kNever});
  std::size_t turn = 0;
  for (Clock left = piece.bursts; left > 0; --left) {
    ClockCalendar::Free free{piece.ready[turn], 0};
    do {
      free = ClockCalendar::find(bus.taken, stack, free.from + free.clocks, kind.apart);
    } while (free.clocks < kind.apart);
    const Clock at = free.from;
    bus.taken.take(at, at + kind.apart);
    piece.ready[turn] = at + kind.in_group;
    taken = {std::min(taken.first, at), std::max(taken.last, at)};
    if (at - last[turn].last >= 2 * kind.of_other_stack) {
      hold_back_others(kind, stack, last[turn]);
      last[turn].first = at;
    }
    last[turn].last = at;
    if (++turn == piece.groups) turn = 0;
  }
  for (turn = 0; turn < piece.groups; ++turn) hold_back_others(kind, stack, last[turn]);
  return taken;
}

// Other stacks keep their distance from RDs or WRs that come one after the other.
void RunPlanner::hold_back_others(const Kind& kind, const ClockCalendar& stack,
                                  const Taken& taken) {
  if (kind.of_other_stack <= 1) return;
  const Clock begin = taken.first - kind.of_other_stack + 1;
  const Clock end = taken.last + kind.of_other_stack;
  for (auto& each : by_others_) {
    if (&each != &stack) each.take(begin, end);
  }
}

// Clocks for so many RDs or WRs one after the other.
RunPlanner::Taken RunPlanner::take_in_a_row(const Kind& kind, PseudoChannel& bus,
                                            ClockCalendar& stack, Clock from, Clock bursts) {
  Taken taken{kNever, 0};
  for (Clock at = from, left = bursts; left > 0;) {
    const Clock wanted = left * kind.apart;
    const auto free = ClockCalendar::find(bus.taken, stack, at, wanted);
    const Clock found = free.clocks == wanted ? left : free.clocks / kind.apart;
    at = free.from + free.clocks;
    if (found == 0) continue;
    taken.first = std::min(taken.first, free.from);
    taken.last = free.from + (found - 1) * kind.apart;
    bus.taken.take(free.from, taken.last + kind.apart);
    hold_back_others(kind, stack, {free.from, taken.last});
    left -= found;
  }
  return taken;
}

// Its RDs or WRs are planned.
void RunPlanner::leave(const Piece& piece) {
  const Kind& kind = kinds_[piece.write ? 1 : 0];
  for (std::size_t i = 0; i < piece.groups; ++i) {
    Bank& bank = banks_[static_cast<std::size_t>(piece.lanes[i])];
    bank.column = piece.ready[i];
    const Clock last = bank.column - kind.in_group;
    bank.last = std::max(bank.last, last);
    bank.pre = std::max(bank.pre, last + kind.to_pre);
  }
}

// Opens the row, unless it is open or bursts still wait for it; whether it was.
bool RunPlanner::open(Bank& bank, Group& group, PseudoChannel& bus, std::uint32_t row,
                      const Wanted& wanted) {
  if (bank.row == row || (bank.before == row && wanted.from < bank.last_before)) {
    return true;
  }
  // Buses give their time away as bursts come, not as they are served.
  row_bus_ = std::max(row_bus_, wanted.from);
  bus.act = std::max(bus.act, wanted.from);
  group.act = std::max(group.act, wanted.from);
  Clock act = std::max({wanted.decided, bank.act, bus.act, group.act});
  if (bank.row != kNoRow) {
    act = std::max(act, std::max({wanted.decided, row_bus_, bank.pre}) + limits_.pre_to_act);
    ++row_bus_;
    ++counts_.precharges;
  }
  act = std::max(act, row_bus_);
  bus.act += act_window_;
  group.act += limits_.group_act_to_act;
  row_bus_ += act_clocks_;
  ++counts_.activates;
  bank.before = bank.row;
  bank.last_before = bank.last;
  bank.row = row;
  bank.opened = bank.last = act;
  bank.act = act + limits_.act_to_act;
  bank.pre = std::max(bank.pre, act + limits_.act_to_pre);
  return false;
}

// Of those that fell due by `now` the first one has closed the row, and the last one may still hold
// bursts back.
[[gnu::noinline]] void RunPlanner::refresh_bank(Bank& bank, Clock now) {
  const Clock last = bank.refresh + (now - bank.refresh) / bank_period_ * bank_period_;
  Clock begin = last;
  if (bank.row != kNoRow) {
    begin = std::max(begin, std::max(bank.refresh, bank.pre) + limits_.pre_to_act);
    ++counts_.precharges;
  }
  bank.row = bank.before = kNoRow;
  bank.act = std::max(bank.act, begin + limits_.refresh_bank_to_act);
  bank.refresh = last + bank_period_;
}

// Of those that fell due by `now` the last one may still hold bursts back; until when.
Clock RunPlanner::refresh_all(unsigned pseudo_channel, Clock now) {
  PseudoChannel& bus = buses_[pseudo_channel];
  const Clock due = bus.refresh + (now - bus.refresh) / refresh_interval_ * refresh_interval_;
  Clock begin = due;
  for (int lane = layout_.first_lane(pseudo_channel); lane < layout_.end_lane(pseudo_channel);
       ++lane) {
    Bank& bank = banks_[static_cast<std::size_t>(lane)];
    if (bank.row != kNoRow) begin = std::max(begin, bank.pre + limits_.pre_to_act);
    bank.row = bank.before = kNoRow;
  }
  ++counts_.precharges;  // PREab
  const Clock end = begin + refresh_clocks_;
  bus.act = std::max(bus.act, end);
  bus.held += std::max<Clock>(0, end - std::max(begin, now));
  bus.refresh = due + refresh_interval_;
  return end;
}

ChannelCounts RunPlanner::counts(Clock now) const {
  ChannelCounts counts = counts_;
  const std::uint64_t bursts = counts.reads + counts.writes;
  counts.row_hits = bursts - std::min(bursts, counts.activates);
  for (unsigned p = 0; p < layout_.pseudo_channels(); ++p) {
    if (now < first_refresh_[p]) continue;
    counts.refreshes +=
        static_cast<std::uint64_t>((now - first_refresh_[p]) / refresh_interval_ + 1);
  }
  return counts;
}

BusClocks RunPlanner::bus(unsigned pseudo_channel, Clock now) const {
  const PseudoChannel& bus = buses_[pseudo_channel];
  BusClocks clocks;
  // Up to `now`, and not what is planned behind it.
  Clock left = now;
  const auto part = [&left](Clock wanted) {
    const Clock given = std::min(left, wanted);
    left -= given;
    return given;
  };
  clocks.idle = part(bus.idle + std::max<Clock>(0, now - bus.busy_until));
  clocks.data = part(bus.data);
  clocks.refresh = part(bus.held);
  clocks.column = part(bus.column);
  clocks.row = left;
  return clocks;
}

}  // namespace npu::model::hbm
