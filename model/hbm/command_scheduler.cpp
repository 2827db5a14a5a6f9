// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/command_scheduler.hpp"

namespace npu::model::hbm {

CommandScheduler::CommandScheduler(const HbmConfig& config, std::vector<BurstDone>& done)
    : split_(config.policy == HbmPolicy::kSplitQueues),
      limit_{config.read_queue, split_ ? config.write_queue : config.read_queue},
      layout_(config.timings),
      drain_(config),
      timing_(config.timings, layout_),
      rows_(layout_, timing_, !split_),
      columns_(layout_, timing_.limits()),
      queue_(split_, limit_[0] + (split_ ? limit_[1] : 0) + static_cast<unsigned>(layout_.lanes())),
      refreshes_(config.timings, layout_, split_),
      account_(config.timings, timing_.limits(), done),
      reporter_(layout_) {}

void CommandScheduler::append(const Burst& burst, Clock at, Traffic traffic) {
  if (queue_.ages_left() == 0) renumber();
  const auto oldest = queue_.append(burst, at, is_write(burst.write, traffic));
  appended(burst.lane, oldest, traffic);
}

// The first of them comes at `at`, the others a clock after the other.
void CommandScheduler::append_turns(const BurstTurns& bursts, Clock at, Traffic traffic) {
  if (queue_.ages_left() < bursts.count) renumber();
  for (unsigned i = 0; i < bursts.lanes && i < bursts.count; ++i) {
    const unsigned count = (bursts.count - i + bursts.lanes - 1) / bursts.lanes;
    const Burst burst{bursts.row, bursts.tag, bursts.lane[i], bursts.write};
    appended(
        burst.lane,
        queue_.append_many(burst, at + i, is_write(burst.write, traffic), i, count, bursts.lanes),
        traffic);
  }
  queue_.pass_ages(bursts.count);
}

void CommandScheduler::appended(int lane, RequestQueue::Oldest oldest, Traffic traffic) {
  if (drain_changed(traffic)) {
    update_all();
  } else if (oldest == RequestQueue::Oldest::kMiss) {
    const NextCommand before = rows_.next();
    update_row(lane, traffic);
    // The youngest is first only if it comes earlier.
    if (rows_.next().at == before.at && !rows_.acts_are_late(traffic)) rows_.set_next(before);
  } else if (oldest == RequestQueue::Oldest::kHit) {
    update_column(lane, traffic);
    if (!split(traffic)) update_row(lane, traffic);  // the row stays open now
  }
}

[[gnu::noinline]] void CommandScheduler::rebase(Clock now) {
  rows_.rebase(now);
  columns_.rebase(now);
}

[[gnu::noinline]] void CommandScheduler::renumber() {
  const int less = queue_.lower_ages();
  if (less == 0) {
    queue_.renumber();
    update_all();
    return;
  }
  rows_.lower_ages(less);
  columns_.lower_ages(less);
}

// A row is closed only when nothing keeps it open: split queues, a request whose ACT was issued or
// a hit older than the miss; shared queue, any hit.
bool CommandScheduler::may_precharge(const Bank& bank, Traffic traffic) const {
  if (bank.opened != kNoRequest) return false;
  const BankList& served = bank.lists[list(traffic)];
  if (served.hit == kNoRequest) return true;
  return split(traffic) && queue_.at(served.miss).age < queue_.at(served.hit).age;
}

void CommandScheduler::update_row(int lane, Traffic traffic) {
  const Bank& bank = queue_.bank(lane);
  const Slot miss = bank.lists[list(traffic)].miss;
  rows_.forget(lane);
  if (miss == kNoRequest || refreshes_.gates(lane)) {
    rows_.withdraw(lane);
  } else if (!bank.open) {
    offer_activate(lane, miss);
  } else if (may_precharge(bank, traffic)) {
    offer_precharge(lane, traffic);
  } else {
    rows_.withdraw(lane);
  }
  if (rows_.acts_are_late(traffic)) rows_.reconsider(now_);
}

void CommandScheduler::offer_activate(int lane, Slot slot) {
  const Request& request = queue_.at(slot);
  const Clock from = timing_.activate_from(queue_.bank(lane).clocks, lane);
  rows_.offer_activate(lane, request.age, std::max(from, request.arrived + 1), now_);
}

void CommandScheduler::offer_precharge(int lane, Traffic traffic) {
  const Bank& bank = queue_.bank(lane);
  const Request& request = queue_.at(bank.lists[list(traffic)].miss);
  rows_.offer_precharge(lane, request.age, std::max(bank.clocks.pre, request.arrived + 1), now_);
}

void CommandScheduler::update_column(int lane, Traffic traffic) {
  const Bank& bank = queue_.bank(lane);
  const bool activated = bank.opened != kNoRequest;  // comes before all others on the column bus
  const Slot next = activated ? bank.opened : bank.lists[list(traffic)].hit;
  columns_.forget(lane);
  if (next == kNoRequest || (!activated && refreshes_.gates(lane))) {
    columns_.withdraw(lane);
  } else {
    offer_column(lane, next, activated, traffic);
  }
}

void CommandScheduler::offer_column(int lane, Slot slot, bool activated, Traffic traffic) {
  const Request& request = queue_.at(slot);
  const bool write = is_write(request, traffic);
  const BankClocks& bank = queue_.bank(lane).clocks;
  if (activated) {
    return columns_.offer_activated(lane, write, timing_.column_from(bank, lane, write), now_);
  }
  const Clock from = std::max(request.arrived + 1, ChannelTiming::bank_column_from(bank, write));
  const auto group = static_cast<std::uint8_t>(layout_.group_of(lane));
  const auto block = static_cast<std::uint8_t>(ColumnBus::block(lane));
  const Clock group_from = timing_.group_column_from(group, write);
  columns_.offer_hit({from, request.age, request.lane, block, group, write}, group_from, now_);
}

[[gnu::noinline]] void CommandScheduler::update_all() {
  columns_.withdraw_hits();
  rows_.withdraw_all();
  if (rows_.acts_are_late(Traffic::kAny)) rows_.reconsider(now_);
  queue_.for_each_holding([this](int lane) { update_bank(lane); });
}

void CommandScheduler::find_next() {
  const auto unknown = [](const NextCommand& next) {
    return next.at != kNever && next.lane == NextCommand::kUnknown;
  };
  if (unknown(columns_.next())) find_column(Traffic::kAny);
  if (unknown(rows_.next())) find_row(Traffic::kAny);
}

bool CommandScheduler::step_columns(Clock at, Traffic traffic) {
  if (columns_.next().lane == NextCommand::kUnknown) find_column(traffic);
  if (columns_.next().at != at) return false;
  const bool awaited = issue_column(at, traffic);
  find_column(traffic);
  return awaited;
}

void CommandScheduler::step_rows(Clock at, Traffic traffic) {
  if (rows_.next().lane == NextCommand::kUnknown) find_row(traffic);
  if (rows_.next().at != at) return;
  issue_row(at, traffic);
  find_row(traffic);
}

// A RD or WR as far as it does not matter where its request waits.
void CommandScheduler::serve(const Request& request, int lane, Clock at, Traffic traffic) {
  Bank& bank = queue_.bank(lane);
  account_.served(request, lane, layout_.pseudo_channel_of(lane), at, bank, refreshes_, traffic);
  const bool write = is_write(request, traffic);
  if (request.count == 1) account_.done(at, request.tag, write, request.served + 1U);
  timing_.column(bank.clocks, lane, write, at);
}

bool CommandScheduler::issue_column(Clock at, Traffic traffic) {
  const int lane = columns_.next().lane;
  Bank& bank = queue_.bank(lane);
  const bool activated = bank.opened != kNoRequest;
  const Slot slot = activated ? bank.opened : bank.lists[list(traffic)].hit;
  const Request& request = queue_.at(slot);
  const bool write = is_write(request, traffic);
  reporter_.report(write ? CommandKind::kWrite : CommandKind::kRead, lane, bank.row, at);
  serve(request, lane, at, traffic);
  columns_.issued(lane, write, at);
  bool awaited = false;
  if (activated) {
    bank.opened = kNoRequest;
    columns_.served_activated(lane);
    awaited = refreshes_.gates(lane);
    queue_.release(slot, write);
  } else {
    queue_.serve(slot, write);
  }
  if (drain_changed(traffic)) {
    update_all();
  } else if (activated && bank.lists[list(traffic)].hit == kNoRequest && !awaited) {
    offer_precharge(lane, traffic);
    columns_.withdraw(lane);
  } else {
    if (bank.lists[list(traffic)].miss != kNoRequest) update_row(lane, traffic);
    update_column(lane, traffic);
  }
  return awaited;
}

[[gnu::flatten, gnu::noinline]] void CommandScheduler::serve_hits(Clock last, Traffic traffic) {
  if (traffic == Traffic::kWrites) {
    serve_hits_of(last, Traffic::kWrites);
  } else {
    serve_hits_of(last, Traffic::kReads);
  }
}

void CommandScheduler::serve_hits_of(Clock last, Traffic traffic) {
  for (Clock from = columns_.next().at;;) {
    const auto [at, hit] = columns_.first_hit(from, timing_, traffic);
    if (at > last || at >= rows_.next().at) {
      columns_.set_next({at, hit == nullptr ? NextCommand::kUnknown : hit->lane});
      if (!columns_.any_activated()) return;
      columns_.set_next({from, NextCommand::kUnknown});
      return find_column(traffic);
    }
    now_ = at;
    serve_hit(*hit, at, traffic);
    now_ = from = at + 1;
  }
}

Clock CommandScheduler::activated_from(Traffic traffic) const {
  const int lane = columns_.first_activated();
  if (lane == LaneList::kEnd) return kNever;
  return ChannelTiming::bank_column_from(queue_.bank(lane).clocks, traffic == Traffic::kWrites);
}

void CommandScheduler::serve_hit(RowHits::Hit& hit, Clock at, Traffic traffic) {
  const int lane = hit.lane;
  Bank& bank = queue_.bank(lane);
  const BankList& served = bank.lists[list(traffic)];
  const Slot slot = served.hit;
  const Request& request = queue_.at(slot);
  const bool write = is_write(request, traffic);
  reporter_.report(write ? CommandKind::kWrite : CommandKind::kRead, lane, bank.row, at);
  serve(request, lane, at, traffic);
  columns_.issued_alone(lane, write, at);
  queue_.serve(slot, write);
  if (served.hit == kNoRequest) {
    columns_.withdraw(lane);
  } else {
    const Request& next = queue_.at(served.hit);
    columns_.next_hit(hit, next.age, std::max(next.arrived + 1, hit.from));
  }
  if (served.miss != kNoRequest) update_row(lane, traffic);
}

void CommandScheduler::issue_row(Clock at, Traffic traffic) {
  const int lane = rows_.next().lane;
  Bank& bank = queue_.bank(lane);
  if (bank.open) {
    reporter_.report(CommandKind::kPrecharge, lane, 0, at);
    precharge(lane, at);
    rows_.precharged(lane, at, timing_.activate_from(bank.clocks, lane));
    account_.precharged();
    return;
  }
  Slot slot = bank.lists[list(traffic)].miss;
  const std::uint32_t row = queue_.at(slot).row;
  reporter_.report(CommandKind::kActivate, lane, row, at);
  activate(lane, at);
  if (split(traffic)) {
    slot = queue_.take_first(slot, is_write(queue_.at(slot), traffic));
    bank.opened = slot;
    columns_.activated(lane);
  }
  queue_.at(slot).activated = true;
  queue_.open_row(lane, row);
  rows_.occupy_by_act(at);
  account_.activated();
  if (drain_changed(traffic)) {
    update_all();
  } else if (split(traffic)) {
    offer_column(lane, slot, true, traffic);  // and nothing closes the row before that
  } else {
    update_column(lane, traffic);
  }
}

// What the bank offers afterwards is for the caller to say.
void CommandScheduler::precharge(int lane, Clock at) {
  Bank& bank = queue_.bank(lane);
  timing_.precharge(bank.clocks, at);
  if (bank.lists[drain_.list()].hit != kNoRequest) {
    columns_.withdraw(lane);
    columns_.forget(lane);
  }
  queue_.close_row(lane);
}

void CommandScheduler::precharge_alone(int lane, Clock at) {
  reporter_.report(CommandKind::kPrecharge, lane, 0, at);
  precharge(lane, at);
  rows_.occupy_idle(at);
  account_.precharged();
  not_before(at + 1);
}

void CommandScheduler::activate_alone(int lane, std::uint32_t row, Clock at) {
  reporter_.report(CommandKind::kActivate, lane, row, at);
  activate(lane, at);
  queue_.open_row(lane, row);
  rows_.occupy_idle_by_act(at);
  account_.activated();
  not_before(at + 1);
}

void CommandScheduler::count_alone(const Request& request, int lane, Clock at) {
  const Bank& bank = queue_.bank(lane);
  reporter_.report(request.write ? CommandKind::kWrite : CommandKind::kRead, lane, bank.row, at);
  account_.served(request, lane, layout_.pseudo_channel_of(lane), at, bank, refreshes_,
                  Traffic::kAny);
}

void CommandScheduler::settle_alone(int lane, bool write, Clock at) {
  timing_.column(queue_.bank(lane).clocks, lane, write, at);
  columns_.issued_alone(lane, write, at);
  not_before(at + 1);
}

void CommandScheduler::wait_for_activated(int lane) {
  Bank& bank = queue_.bank(lane);
  const Slot slot = bank.lists[list(Traffic::kAny)].hit;
  bank.opened = queue_.take(slot, queue_.at(slot).write);
  queue_.at(bank.opened).activated = true;
  columns_.activated(lane);
  update_column(lane, Traffic::kAny);
}

void CommandScheduler::serve(const LoneBurst& lone) {
  const Burst& burst = lone.burst();
  Request request{};
  request.tag = burst.tag;
  request.write = burst.write;
  request.arrived = lone.arrived();
  request.activated = lone.activate() != kNever;
  if (lone.precharge() != kNever) precharge_alone(burst.lane, lone.precharge());
  if (lone.activate() != kNever) activate_alone(burst.lane, burst.row, lone.activate());
  serve_alone(request, burst.lane, lone.column());
  drain_.served_alone(burst.write);
}

void CommandScheduler::refresh_all_banks(unsigned pseudo_channel, Clock at) {
  const int end = layout_.end_lane(pseudo_channel);
  for (int lane = layout_.first_lane(pseudo_channel); lane < end; ++lane) {
    timing_.refresh(queue_.bank(lane).clocks, at);
  }
}

void CommandScheduler::refresh_bank(int lane, Clock at) {
  const unsigned pseudo_channel = layout_.pseudo_channel_of(lane);
  timing_.refresh_bank(queue_.bank(lane).clocks, lane, at);
  rows_.hold_activates(pseudo_channel, timing_.any_activate_from(pseudo_channel));
}

Candidates::Foremost CommandScheduler::precharge_for_read(int lane, Clock at,
                                                          const Candidates::Foremost& it) {
  const Candidates::Foremost behind = rows_.after_precharge(at, it);
  reporter_.report(CommandKind::kPrecharge, lane, 0, at);
  Bank& bank = queue_.bank(lane);
  rows_.closes(lane, at + timing_.limits().pre_to_act, timing_.activate_from(bank.clocks, lane));
  timing_.precharge(bank.clocks, at);
  bank.open = false;
  bank.lists[0].miss = bank.lists[0].head;  // there are no hits
  account_.precharged();
  return behind;
}

Candidates::Foremost CommandScheduler::activate_for_read(int lane, Clock at,
                                                         const Candidates::Foremost& it) {
  const Candidates::Foremost behind = rows_.after_activate(at, it, lane);
  Bank& bank = queue_.bank(lane);
  const Slot slot = queue_.take_first(bank.lists[0].miss, false);
  Request& request = queue_.at(slot);
  reporter_.report(CommandKind::kActivate, lane, request.row, at);
  request.activated = true;
  activate(lane, at);
  queue_.open_row(lane, request.row);
  account_.activated();
  bank.opened = slot;
  columns_.activated(lane);
  return behind;
}

void CommandScheduler::read_activated(int lane, Clock at) {
  Bank& bank = queue_.bank(lane);
  const Slot slot = bank.opened;
  bank.opened = kNoRequest;
  columns_.served_activated(lane);
  const Request& request = queue_.at(slot);
  reporter_.report(CommandKind::kRead, lane, request.row, at);
  serve(request, lane, at, Traffic::kReads);
  columns_.issued_alone(lane, false, at);
  queue_.release(slot, false);
}

}  // namespace npu::model::hbm
