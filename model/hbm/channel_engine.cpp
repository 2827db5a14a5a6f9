// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_engine.hpp"

#include <systemc>

#include "model/hbm/address_map.hpp"

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
      lanes_per_rank_(lanes_per_rank(t_)),
      lanes_(static_cast<int>(t_.pseudo_channels * t_.stacks) * lanes_per_rank_),
      limits_(t_),
      long_trp_(limits_.pre_to_act > 1),
      long_trrd_(limits_.any_act_to_act > 1 + act_extra_),
      rows_(lanes_),
      columns_(lanes_),
      queue_(split_, limit_[0] + (split_ ? limit_[1] : 0) + static_cast<unsigned>(lanes_)),
      kept_refreshes_(1 +
                      (limits_.pre_to_act + act_extra_ + (per_bank_ ? t_.trfc_pb : t_.trfc) + 2) /
                          refresh_interval()),
      done_(done) {
  sc_assert(t_.pseudo_channels >= 1 && t_.pseudo_channels <= 2);
  sc_assert(t_.banks_per_group <= 8 && 8 % t_.banks_per_group == 0);
  lanes_per_pseudo_channel_ = static_cast<int>(t_.stacks) * lanes_per_rank_;
  const int stacks = static_cast<int>(t_.stacks);
  const int per_group = static_cast<int>(t_.banks_per_group);
  group_shift_ = static_cast<unsigned>(__builtin_ctz(t_.banks_per_group));
  for (int i = 0; i < lanes_; ++i) {
    const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
    const int rank = i / lanes_per_rank_;
    places_[static_cast<std::size_t>(i)] = {byte(rank / stacks), byte(rank % stacks),
                                            byte(i / per_group), byte(i / per_group * per_group),
                                            byte(i % lanes_per_rank_)};
  }
  for (int p = 0; p < 2; ++p) {
    lanes_of_[static_cast<std::size_t>(p)] =
        Candidates::lanes(std::min(p * lanes_per_pseudo_channel_, lanes_ - 1),
                          p * lanes_per_pseudo_channel_ < lanes_ ? lanes_per_pseudo_channel_ : 0);
  }
  for (auto* candidates : {&rows_, &columns_}) candidates->set_group_size(per_group);
  build_distances();
  start_refresh();
}

std::uint16_t ChannelEngine::lane(unsigned pseudo_channel, unsigned stack, unsigned group,
                                  unsigned bank) const {
  return lane_number(t_, pseudo_channel, stack, group, bank);
}

void ChannelEngine::take_short_cuts(bool on) {
  short_cuts_ = on;
  if (!on) keep_columns();
}

void ChannelEngine::enter(const Burst& burst, Clock at) {
  if (lone()) {
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
  append(burst, at, Traffic::kAny);
}

void ChannelEngine::enter_ahead(const Burst& burst, Clock at) {
  bus_[pseudo_channel_of(burst.lane)].queued(at + 1);
  append(burst, at, Traffic::kReads);
}

void ChannelEngine::append(const Burst& burst, Clock at, Traffic traffic) {
  if (queue_.ages_exhausted()) renumber();
  const auto oldest = queue_.append(burst, at, traffic == Traffic::kAny && burst.write);
  if (write_mode_changed(traffic)) {
    update_all();
  } else if (oldest == RequestQueue::Oldest::kMiss) {
    const Next before = row_;
    update_row(burst.lane, traffic);
    // The youngest is first only if it comes earlier.
    if (row_.at == before.at && (split(traffic) || act_handicap_ == 0)) row_.lane = before.lane;
  } else if (oldest == RequestQueue::Oldest::kHit) {
    update_column(burst.lane, traffic);
    if (!split(traffic)) update_row(burst.lane, traffic);  // the row stays open now
  }
}

[[gnu::noinline]] void ChannelEngine::rebase(Clock now) {
  rows_.rebase(now);
  columns_.rebase(now);
}

[[gnu::noinline]] void ChannelEngine::renumber() {
  const int less = queue_.lower_ages();
  if (less == 0) {
    queue_.renumber();
    update_all();
    return;
  }
  if (!columns_kept_) columns_.withdraw_all();
  rows_.lower_ages(less);
  columns_.lower_ages(less);
}

// Inlines what it calls: that is what a burst's time is spent on.
[[gnu::flatten, gnu::noinline]] void ChannelEngine::decide(Clock until) {
  if (traffic() == Traffic::kReads) {
    decide(until, Traffic::kReads);
  } else {
    decide(until, Traffic::kAny);
  }
}

void ChannelEngine::decide(Clock until, Traffic traffic) {
  for (Clock at = next_decision(); at <= until; at = next_decision()) {
    if (traffic == Traffic::kReads && !columns_kept_ && !idle() && decide_opened_reads(until)) {
      continue;
    }
    if (next_refresh_ == at && idle()) {
      while_idle(until);
    } else {
      step(at, traffic);
    }
  }
}

[[gnu::noinline]] void ChannelEngine::while_idle(Clock until) {
  row_ = column_ = {};
  if (short_cuts_ && until - next_refresh_ >= kept_refreshes_ * refresh_interval()) {
    skip_idle_refreshes(until);
  }
  if (short_cuts_ && per_bank_) refresh_idle(until);
  const Clock at = next_decision();
  if (at <= until) step(at, Traffic::kAny);
}

void ChannelEngine::step(Clock at, Traffic traffic) {
  follow(at);
  now_ = at;
  if (next_refresh_ == at) step_refresh(at);
  if (column_.at == at) {
    if (column_.lane == kUnknown) {
      if (traffic == Traffic::kAny && lone()) return serve_lone();
      find_column(traffic);
    }
    if (column_.at == at) {
      issue_column(at, traffic);
      find_column(traffic);
    }
  }
  now_ = at + 1;
  if (row_.at == at) {
    if (row_.lane == kUnknown) find_row(traffic);
    if (row_.at == at) {
      issue_row(at, traffic);
      find_row(traffic);
    }
  }
}

Clock ChannelEngine::earliest_service() {
  if (idle()) return kNever;
  if (lone()) return lone_.column;
  if (column_.at != kNever && column_.lane == kUnknown) find_column();
  if (row_.at != kNever && row_.lane == kUnknown) find_row();
  if (refresh_pending()) schedule_refresh();
  // A burst that is no candidate yet needs an ACT first, or a change between reads and writes,
  // which the ACT of the last burst of the other kind may bring about.
  const bool mixed = split_ && queue_.queued(false) != 0 && queue_.queued(true) != 0;
  const Clock wait = mixed ? 1 : std::min(limits_.act_to_column[0], limits_.act_to_column[1]);
  return std::min(column_.at, std::min(row_.at, next_refresh_) + wait);
}

bool ChannelEngine::gated_by_refresh(int lane) const {
  const unsigned pseudo_channel = pseudo_channel_of(lane);
  if (per_bank_) {
    return refresh_[pseudo_channel].pending && refresh_lane(pseudo_channel) == lane;
  }
  return split_ ? refresh_[0].pending || refresh_[1].pending : refresh_[pseudo_channel].pending;
}

bool ChannelEngine::may_precharge(const Bank& bank, Traffic traffic) const {
  if (bank.opened != kNoRequest) return false;
  const BankList& served = bank.lists[list(traffic)];
  if (served.hit == kNoRequest) return true;
  return split(traffic) && queue_.at(served.miss).age < queue_.at(served.hit).age;
}

void ChannelEngine::update_row(int lane, Traffic traffic) {
  const Bank& bank = queue_.bank(lane);
  const Slot miss = bank.lists[list(traffic)].miss;
  row_.withdrawn(lane);
  if (miss == kNoRequest || gated(lane)) {
    rows_.withdraw(lane);
  } else if (!bank.open) {
    offer_activate(lane, miss);
  } else if (may_precharge(bank, traffic)) {
    offer_precharge(lane, miss);
  } else {
    rows_.withdraw(lane);
  }
  if (!split(traffic) && act_handicap_ != 0) reconsider_row();
}

void ChannelEngine::offer_activate(int lane, Slot slot) {
  const Request& request = queue_.at(slot);
  const Clock limit = std::max({act_limit(lane), pseudo_channel(lane).act, request.arrived + 1});
  rows_.offer(lane, kAct, request.age, limit + act_handicap_);
  row_.offered(std::max({limit, now_, row_bus_free_}));
}

void ChannelEngine::offer_precharge(int lane, Slot slot) {
  const Request& request = queue_.at(slot);
  const Clock limit = std::max(queue_.bank(lane).pre, request.arrived + 1);
  rows_.offer(lane, kPre, request.age, limit);
  row_.offered(std::max({limit, now_, row_bus_free_}));
}

[[gnu::noinline]] void ChannelEngine::update_all() {
  for (int lane = 0; lane < lanes_; ++lane) update_bank(lane);
}

void ChannelEngine::find_row(Traffic traffic) {
  const int handicap = split(traffic) ? 0 : act_handicap_;
  const auto found = rows_.first_row(row_.at, handicap);
  if (found.age < 0) {
    row_ = {};
    return;
  }
  const int lane = queue_.lane_of_age(found.age);
  const bool handicapped = handicap != 0 && !queue_.bank(lane).open;
  row_ = {found.time - (handicapped ? handicap : 0), lane};
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

BusClocks ChannelEngine::bus(unsigned pseudo_channel, Clock now) {
  // With per-bank refresh it is not known yet whose bank is served next.
  const std::size_t first = pseudo_channel * static_cast<std::size_t>(lanes_per_pseudo_channel_);
  bus_[pseudo_channel].settle(now, per_bank_ ? RefreshWindows{} : refreshes_[first]);
  return bus_[pseudo_channel].clocks();
}

}  // namespace npu::model::hbm
