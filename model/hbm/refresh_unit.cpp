// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/refresh_unit.hpp"

namespace npu::model::hbm {
namespace {

bool any_open(const CommandScheduler& commands, unsigned pseudo_channel) {
  const ChannelLayout& layout = commands.layout();
  const int end = layout.end_lane(pseudo_channel);
  for (int lane = layout.first_lane(pseudo_channel); lane < end; ++lane) {
    if (commands.queue().bank(lane).open) return true;
  }
  return false;
}

// Whether a REFpb that falls due at `at` or the clock before can be issued at `at`.
bool can_refresh(const CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  const int lane = commands.refreshes().lane(pseudo_channel);
  const Bank& bank = commands.queue().bank(lane);
  return !bank.open && commands.timing().refresh_bank_from(bank.clocks, lane) <= at;
}

// Tells the banks that the last refresh concerns when it ends.
void note_refreshed(CommandScheduler& commands, unsigned pseudo_channel, Clock end) {
  const auto lanes = commands.refreshes().lanes_of_last(pseudo_channel);
  for (int lane = lanes.first; lane < lanes.end; ++lane) commands.note_refreshed(lane, end);
}

// The candidates that the last refresh begins or ceases to hold back.
void update_gated(CommandScheduler& commands, unsigned pseudo_channel) {
  if (commands.idle()) return;
  const RefreshSchedule& refreshes = commands.refreshes();
  if (!refreshes.per_bank() && refreshes.together()) return commands.update_all();
  const auto lanes = refreshes.lanes_of_last(pseudo_channel);
  for (int lane = lanes.first; lane < lanes.end; ++lane) commands.update_bank(lane);
}

// Closes the banks that so many refreshes concern, as these are skipped.
void close_skipped(CommandScheduler& commands, unsigned pseudo_channel, Clock refreshes) {
  commands.queue().open_rows().for_each([&](int lane) {
    if (commands.layout().pseudo_channel_of(lane) != pseudo_channel) return;
    if (commands.refreshes().turns_before(lane) >= refreshes) return;
    commands.close_idle(lane, commands.now());
    commands.account().precharged();
  });
}

}  // namespace

Clock RefreshUnit::kept(const CommandScheduler& commands) {
  const Clock lasting = commands.timing().limits().pre_to_act + commands.timing().act_extra() +
                        commands.refreshes().duration() + 2;
  return 1 + lasting / commands.refreshes().interval();
}

RefreshUnit::RefreshUnit(const CommandScheduler& commands) : kept_(kept(commands)) {
  schedule(commands);
}

void RefreshUnit::set_pace(CommandScheduler& commands, Clock pace) {
  commands.refreshes().set_pace(pace);
  kept_ = kept(commands);
  schedule(commands);
}

// The clock of the next command of a pending refresh.
Clock RefreshUnit::action(const CommandScheduler& commands, unsigned pseudo_channel) const {
  const RefreshSchedule& refreshes = commands.refreshes();
  const Clock row_bus = std::max(commands.now(), commands.rows().free());
  if (refreshes.per_bank()) {
    const int lane = refreshes.lane(pseudo_channel);
    const Bank& bank = commands.queue().bank(lane);
    if (bank.opened != kNoRequest) return kNever;
    if (bank.open) return std::max(row_bus, bank.clocks.pre);
    return std::max(row_bus, commands.timing().refresh_bank_from(bank.clocks, lane));
  }
  if (refreshes.waits_for_other(pseudo_channel)) return kNever;
  const int end = commands.layout().end_lane(pseudo_channel);
  const bool open = any_open(commands, pseudo_channel);
  Clock when = row_bus;
  for (int lane = commands.layout().first_lane(pseudo_channel); lane < end; ++lane) {
    const Bank& bank = commands.queue().bank(lane);
    if (bank.opened != kNoRequest) return kNever;
    if (open && !bank.open) continue;
    when =
        std::max(when, open ? bank.clocks.pre : commands.timing().refresh_from(bank.clocks, lane));
  }
  return when;
}

[[gnu::noinline]] void RefreshUnit::schedule(const CommandScheduler& commands) {
  next_ = kNever;
  const RefreshSchedule& refreshes = commands.refreshes();
  for (unsigned p = 0; p < commands.layout().pseudo_channels(); ++p) {
    // A refresh that is late falls due now: time does not go back.
    const Clock at =
        refreshes.pending(p) ? action(commands, p) : std::max(refreshes.due(p), commands.now());
    next_ = std::min(next_, at);
  }
}

// Inlines what it calls, as does refresh_idle(): there are many of them.
[[gnu::flatten, gnu::noinline]] void RefreshUnit::step(CommandScheduler& commands, Clock at) {
  const RefreshSchedule& refreshes = commands.refreshes();
  const unsigned pseudo_channels = commands.layout().pseudo_channels();
  for (unsigned p = 0; p < pseudo_channels; ++p) {
    if (refreshes.pending(p) || refreshes.due(p) > at) continue;
    fall_due(commands, p);
    update_gated(commands, p);
  }
  for (unsigned p = 0; p < pseudo_channels; ++p) {
    // The row bus takes one command per clock.
    if (!refreshes.pending(p) || action(commands, p) != at) continue;
    if (refreshes.per_bank()) {
      refresh_one_bank(commands, p, at);
    } else if (any_open(commands, p)) {
      close_all_banks(commands, p, at);
    } else {
      refresh_all_banks(commands, p, at);
    }
    commands.occupy_row_bus(at);
  }
  schedule(commands);
}

void RefreshUnit::fall_due(CommandScheduler& commands, unsigned pseudo_channel) {
  commands.refreshes().fall_due(pseudo_channel);
  note_refreshed(commands, pseudo_channel, kNever);
}

void RefreshUnit::close_all_banks(CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  const int first = commands.layout().first_lane(pseudo_channel);
  const int end = commands.layout().end_lane(pseudo_channel);
  commands.reporter().report(CommandKind::kPrechargeAll, first, 0, at);
  for (int lane = first; lane < end; ++lane) commands.close(lane, at);
  commands.account().precharged();
}

void RefreshUnit::refresh_all_banks(CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  const int first = commands.layout().first_lane(pseudo_channel);
  commands.reporter().report(CommandKind::kRefresh, first, 0, at);
  commands.refresh_all_banks(pseudo_channel, at);
  finish(commands, pseudo_channel, at);
}

void RefreshUnit::refresh_one_bank(CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  const int lane = commands.refreshes().lane(pseudo_channel);
  if (commands.queue().bank(lane).open) {
    commands.reporter().report(CommandKind::kPrecharge, lane, 0, at);
    commands.close(lane, at);
    commands.account().precharged();
    return;
  }
  commands.reporter().report(CommandKind::kRefreshBank, lane, 0, at);
  commands.refresh_bank(lane, at);
  finish(commands, pseudo_channel, at);
}

// Its command was issued.
void RefreshUnit::finish(CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  RefreshSchedule& refreshes = commands.refreshes();
  const Clock due = refreshes.due(pseudo_channel);
  const Clock end = at + refreshes.duration();
  refreshes.finish(pseudo_channel, end);
  commands.account().refreshed(1);
  note_refreshed(commands, pseudo_channel, end);
  if (log_) log_->push_back({due, end, pseudo_channel});
  update_gated(commands, pseudo_channel);
}

void RefreshUnit::run_idle(CommandScheduler& commands, Clock until) {
  const RefreshSchedule& refreshes = commands.refreshes();
  if (until - next_ >= kept_ * refreshes.interval()) skip_idle(commands, until);
  if (refreshes.per_bank()) refresh_idle(commands, until);
}

// One that falls due while the channel is idle, and whose command is issued at `at`.
void RefreshUnit::pass(CommandScheduler& commands, unsigned pseudo_channel, Clock at) {
  RefreshSchedule& refreshes = commands.refreshes();
  const Clock due = refreshes.due(pseudo_channel);
  const Clock end = at + refreshes.duration();
  const int lane = refreshes.lane(pseudo_channel);
  commands.reporter().report(CommandKind::kRefreshBank, lane, 0, at);
  commands.refresh_idle_bank(lane, at, end);
  refreshes.pass(pseudo_channel, end);
  commands.account().refreshed(1);
  if (log_) log_->push_back({due, end, pseudo_channel});
}

// Per-bank refreshes of an idle channel up to `until`, as long as nothing holds them up: of two
// that fall due together the second is issued a clock later. No candidates need looking after.
[[gnu::flatten, gnu::noinline]] void RefreshUnit::refresh_idle(CommandScheduler& commands,
                                                               Clock until) {
  const RefreshSchedule& refreshes = commands.refreshes();
  if (refreshes.pending()) return;
  if (std::min(refreshes.due(0), refreshes.due(1)) < commands.now()) return;
  for (Clock due = next_; due < until; due = next_) {
    if (std::max(commands.now(), commands.rows().free()) > due) break;
    const bool first = refreshes.due(0) == due;
    const bool second = refreshes.due(1) == due;
    const Clock second_at = first ? due + 1 : due;
    if (first && !can_refresh(commands, 0, due)) break;
    if (second && !can_refresh(commands, 1, second_at)) break;
    if (first) pass(commands, 0, due);
    if (second) pass(commands, 1, second_at);
    next_ = std::min(refreshes.due(0), refreshes.due(1));
  }
}

// While nothing waits refreshes only count and close rows: those that are over before `until` are
// skipped, the last ones are simulated so that their timing holds.
[[gnu::noinline]] void RefreshUnit::skip_idle(CommandScheduler& commands, Clock until) {
  RefreshSchedule& refreshes = commands.refreshes();
  const unsigned pseudo_channels = commands.layout().pseudo_channels();
  for (unsigned p = 0; p < pseudo_channels; ++p) {
    if (refreshes.pending(p) || refreshes.due(p) < commands.now()) return;
    if (!refreshes.per_bank() && any_open(commands, p)) return;
  }
  Clock skipped = kNever;
  for (unsigned p = 0; p < pseudo_channels; ++p) {
    const Clock wait = until - refreshes.due(p);
    const Clock due = wait < 0 ? 0 : wait / refreshes.interval() + 1;
    skipped = std::min(skipped, due - kept_);
  }
  for (unsigned p = 0; p < pseudo_channels && skipped > 0; ++p) {
    if (refreshes.per_bank()) close_skipped(commands, p, skipped);
    refreshes.skip(p, skipped);
    commands.account().refreshed(skipped);
  }
  schedule(commands);
}

}  // namespace npu::model::hbm
