// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_engine.hpp"

#include <systemc>

namespace npu::model::hbm {
ChannelEngine::ChannelEngine(const HbmConfig& config, std::vector<BurstDone>& done)
    : t_(config.timings),
      split_(config.policy == HbmPolicy::kSplitQueues),
      per_bank_(t_.trfc_pb != 0),
      limit_{config.read_queue, split_ ? config.write_queue : config.read_queue},
      write_high_(config.write_high_percent * config.write_queue),
      write_low_(config.write_low_percent * config.write_queue),
      banks_per_rank_(static_cast<int>(t_.bank_groups * t_.banks_per_group)),
      act_extra_(static_cast<int>(t_.act_clocks) - 1),
      act_handicap_(split_ ? 0 : act_extra_),
      read_latency_(t_.cl + t_.tdqsck + t_.burst_clocks),
      write_latency_(t_.cwl + t_.burst_clocks),
      lanes_per_rank_((banks_per_rank_ + Candidates::kBlock - 1) / Candidates::kBlock *
                      Candidates::kBlock),
      lanes_(static_cast<int>(t_.pseudo_channels * t_.stacks) * lanes_per_rank_),
      trcd_{t_.trcd_rd + act_extra_, t_.trcd_wr + act_extra_},
      rows_(lanes_),
      columns_(lanes_),
      queue_(split_, limit_[0] + (split_ ? limit_[1] : 0) + static_cast<unsigned>(lanes_)),
      kept_refreshes_(1 + static_cast<Clock>(t_.trp + (per_bank_ ? t_.trfc_pb : t_.trfc) + 2) /
                              refresh_interval()),
      done_(done) {
  sc_assert(t_.pseudo_channels >= 1 && t_.pseudo_channels <= 2);
  sc_assert(t_.banks_per_group <= 8 && 8 % t_.banks_per_group == 0);
  lanes_per_pseudo_channel_ = static_cast<int>(t_.stacks) * lanes_per_rank_;
  const int stacks = static_cast<int>(t_.stacks);
  const int per_group = static_cast<int>(t_.banks_per_group);
  for (int i = 0; i < lanes_; ++i) {
    const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
    const int rank = i / lanes_per_rank_;
    places_[static_cast<std::size_t>(i)] = {byte(rank / stacks), byte(rank % stacks),
                                            byte(i / per_group), byte(i / per_group * per_group),
                                            byte(i % lanes_per_rank_)};
  }
  for (auto* candidates : {&rows_, &columns_}) candidates->set_group_size(per_group);
  build_distances();
  start_refresh();
}

std::uint16_t ChannelEngine::lane(unsigned pseudo_channel, unsigned stack, unsigned group,
                                  unsigned bank) const {
  const unsigned rank = pseudo_channel * t_.stacks + stack;
  return static_cast<std::uint16_t>(rank * static_cast<unsigned>(lanes_per_rank_) +
                                    group * t_.banks_per_group + bank);
}

void ChannelEngine::accept(const Burst& burst, Clock at) {
  advance(at);
  sc_assert(room(burst.write));
  if (lone_.column != kNever) {
    queue_lone();
    advance(at);
  }
  const bool was_idle = idle();
  bus_[pseudo_channel_of(burst.lane)].queued(at + 1);
  if (!was_idle || !plan_lone(burst, at)) enqueue(burst, at);
}

void ChannelEngine::enqueue(const Burst& burst, Clock at) {
  now_ = std::max(now_, at + 1);
  follow(now_);
  if (queue_.ages_exhausted()) renumber();
  const auto oldest = queue_.append(burst, at);
  if (split_ && write_mode_changed()) {
    update_all();
  } else if (oldest == RequestQueue::Oldest::kMiss) {
    update_row(burst.lane);
  } else if (oldest == RequestQueue::Oldest::kHit) {
    update_column(burst.lane);
    if (!split_) update_row(burst.lane);  // the row stays open now
  }
  repick();
}

[[gnu::noinline]] void ChannelEngine::rebase(Clock now) {
  rows_.rebase(now);
  columns_.rebase(now);
}

[[gnu::noinline]] void ChannelEngine::renumber() {
  queue_.renumber();
  update_all();
}

// Inlines what it calls: that is what a burst's time is spent on.
[[gnu::flatten, gnu::noinline]] void ChannelEngine::decide(Clock until) {
  while (next_decision() <= until) decide_next(until);
}

[[gnu::noinline]] void ChannelEngine::while_idle(Clock until) {
  if (short_cuts_ && until - next_refresh_ >= kept_refreshes_ * refresh_interval()) {
    skip_idle_refreshes(until);
  }
  if (short_cuts_ && per_bank_) refresh_idle(until);
  const Clock at = next_decision();
  if (at <= until) step(at);
}

[[gnu::noinline]] void ChannelEngine::step() {
  step(next_decision());
}

void ChannelEngine::step(Clock at) {
  if (lone_.column != kNever) return serve_lone();
  follow(at);
  now_ = at;
  if (next_refresh_ == at) {
    step_refresh(at);
    repick();
  }
  if (column_at_ == at) {
    issue_column(at);
    repick();
  }
  if (row_at_ == at) issue_row(at);
  now_ = at + 1;
  repick();
  if (refresh_pending()) schedule_refresh();
}

Clock ChannelEngine::earliest_service() const {
  if (idle()) return kNever;
  if (lone_.column != kNever) return lone_.column;
  // A burst that is no candidate yet needs an ACT first, or a change between reads and writes,
  // which the ACT of the last burst of the other kind may bring about.
  const bool mixed = split_ && queue_.queued(false) != 0 && queue_.queued(true) != 0;
  const Clock wait = mixed ? 1 : act_extra_ + static_cast<Clock>(std::min(t_.trcd_rd, t_.trcd_wr));
  return std::min(column_at_, std::min(row_at_, next_refresh_) + wait);
}

bool ChannelEngine::gated_by_refresh(int lane) const {
  const unsigned pseudo_channel = pseudo_channel_of(lane);
  if (per_bank_) {
    return refresh_[pseudo_channel].pending && refresh_lane(pseudo_channel) == lane;
  }
  return split_ ? refresh_[0].pending || refresh_[1].pending : refresh_[pseudo_channel].pending;
}

bool ChannelEngine::may_precharge(const Bank& bank) const {
  if (bank.opened != kNoRequest) return false;
  const BankList& served = bank.lists[list()];
  if (served.hit == kNoRequest) return true;
  return split_ && queue_.at(served.miss).age < queue_.at(served.hit).age;
}

void ChannelEngine::update_row(int lane) {
  const Bank& bank = queue_.bank(lane);
  const Slot miss = bank.lists[list()].miss;
  row_stale_ |= row_.lane == lane;
  if (miss == kNoRequest || gated(lane)) {
    rows_.withdraw(lane);
  } else if (!bank.open) {
    offer_activate(lane, miss);
  } else if (may_precharge(bank)) {
    offer_precharge(lane, miss);
  } else {
    rows_.withdraw(lane);
  }
}

void ChannelEngine::offer_activate(int lane, Slot slot) {
  const Clock limit = act_limit(lane) + act_handicap_;
  const int age = queue_.at(slot).age;
  rows_.offer(lane, kAct, age, limit);
  if (row_stale_) return;
  const Clock now = std::max({now_, row_bus_free_, pseudo_channel(lane).act}) + act_handicap_;
  const Pick candidate = Pick::at(std::max(limit, now), age, lane);
  if (candidate.beats(row_)) take_row(candidate);
}

void ChannelEngine::offer_precharge(int lane, Slot slot) {
  const Clock limit = queue_.bank(lane).pre;
  const int age = queue_.at(slot).age;
  rows_.offer(lane, kPre, age, limit);
  if (row_stale_) return;
  const Pick candidate = Pick::at(std::max({limit, now_, row_bus_free_}), age, lane);
  if (candidate.beats(row_)) take_row(candidate);
}

void ChannelEngine::update_column(int lane) {
  const Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;  // comes before all others on the column bus
  const Slot next = opened ? bank.opened : bank.lists[list()].hit;
  column_stale_ |= column_.lane == lane;
  if (next == kNoRequest || (!opened && gated(lane))) {
    columns_.withdraw(lane);
  } else {
    offer_column(lane, next, opened);
  }
}

void ChannelEngine::offer_column(int lane, Slot slot, bool opened) {
  const bool write = queue_.at(slot).write;
  const int age = queue_.at(slot).age + (opened ? 0 : Candidates::kSecondClass);
  const Clock limit = write ? write_limit(lane) : read_limit(lane);
  columns_.offer(lane, write ? 1 : 0, age, limit);
  if (column_stale_) return;
  const Clock time = std::max({limit, column_from(lane, write), now_, column_bus_free_});
  const Pick candidate = Pick::at(time, age, lane);
  if (candidate.beats(column_)) take_column(candidate);
}

void ChannelEngine::take_row(const Pick& pick) {
  row_ = pick;
  row_at_ = pick.lane < 0 ? kNever : pick.time();
  if (act_handicap_ != 0 && pick.lane >= 0 && !queue_.bank(pick.lane).open) {
    row_at_ -= act_handicap_;
  }
}

void ChannelEngine::take_column(const Pick& pick) {
  column_ = pick;
  column_at_ = pick.lane < 0 ? kNever : pick.time();
}

[[gnu::noinline]] void ChannelEngine::update_all() {
  row_stale_ = column_stale_ = true;
  for (int lane = 0; lane < lanes_; ++lane) update_bank(lane);
}

void ChannelEngine::pick_row() {
  row_stale_ = false;
  const Clock floor = std::max(now_, row_bus_free_);
  const auto delay = [&](unsigned pseudo_channel) {
    const Clock act = pseudo_channels_[pseudo_channel].act;
    return static_cast<Lane>(Candidates::delay(act, floor) + act_handicap_);
  };
  const auto found = rows_.first_row(floor, delay(0), delay(t_.pseudo_channels - 1));
  if (found.age < 0) return take_row({});
  take_row(Pick::at(found.time, found.age, queue_.at(queue_.of_age(found.age)).lane));
}

// A row hit that is older than all others and may issue at once needs no search.
bool ChannelEngine::oldest_is_first(Clock floor) {
  if (opened_ != 0) return false;  // they come before it
  const Slot slot = queue_.oldest();
  const Request& request = queue_.at(slot);
  const int lane = request.lane;
  const Bank& bank = queue_.bank(lane);
  if (slot == kNoRequest || bank.lists[list()].hit != slot || gated(lane)) return false;
  const Clock own = request.write ? write_limit(lane) : read_limit(lane);
  if (std::max(own, column_from(lane, request.write)) > floor) return false;
  take_column(Pick::at(floor, request.age + Candidates::kSecondClass, lane));
  return true;
}

void ChannelEngine::pick_column() {
  column_stale_ = false;
  const Clock floor = std::max(now_, column_bus_free_);
  if (oldest_is_first(floor)) return;
  Candidates::Delays read{}, write{};
  const bool writes = queue_.holds_writes();
  const auto blocks = block(lanes_);
  for (std::size_t b = 0; b < blocks; ++b) read[b] = Candidates::delay(read_from_[b], floor);
  if (writes) {
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t pseudo_channel = b * t_.pseudo_channels / blocks;
      write[b] = Candidates::delay(pseudo_channels_[pseudo_channel].write, floor);
    }
  }
  const auto found = columns_.first_column(floor, read, write, writes);
  if (found.age < 0) return take_column({});
  take_column(Pick::at(found.time, found.age, queue_.at(queue_.of_age(found.age)).lane));
}

[[gnu::noinline]] bool ChannelEngine::switch_write_mode() {
  const unsigned reads = queue_.queued(false);
  const unsigned writes = queue_.queued(true);
  const std::size_t before = list_;
  if (list_ == 0) {
    list_ = writes * 100 > write_high_ || reads == 0 ? 1 : 0;
  } else if (reads != 0) {
    list_ = writes != 0 && writes * 100 >= write_low_ ? 1 : 0;
  }
  return list_ != before;
}

const BusClocks& ChannelEngine::bus(unsigned pseudo_channel, Clock now) {
  // With per-bank refresh it is not known yet whose bank is served next.
  const std::size_t first = pseudo_channel * static_cast<std::size_t>(lanes_per_pseudo_channel_);
  bus_[pseudo_channel].settle(now, per_bank_ ? RefreshWindows{} : refreshes_[first]);
  return bus_[pseudo_channel].clocks();
}

}  // namespace npu::model::hbm
