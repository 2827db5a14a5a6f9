// SPDX-License-Identifier: Apache-2.0
#include "model/hbm/channel_engine.hpp"

#include <systemc>

namespace npu::model::hbm {
namespace {

// Opened requests come before all others on the column bus (split queues).
constexpr int kNotOpened = 0x4000;
static_assert(kNotOpened >= RequestQueue::kAgeLimit && 2 * kNotOpened - 1 <= kNoTime);

}  // namespace

ChannelEngine::ChannelEngine(const HbmConfig& config, std::vector<BurstDone>& done)
    : t_(config.timings),
      split_(config.policy == HbmPolicy::kSplitQueues),
      per_bank_(t_.trfc_pb != 0),
      limit_{config.read_queue, split_ ? config.write_queue : config.read_queue},
      write_high_(config.write_high_percent * config.write_queue),
      write_low_(config.write_low_percent * config.write_queue),
      banks_per_rank_(static_cast<int>(t_.bank_groups * t_.banks_per_group)),
      lanes_per_pseudo_channel_(static_cast<int>(t_.stacks) * ((banks_per_rank_ + 7) / 8 * 8)),
      act_extra_(static_cast<int>(t_.act_clocks) - 1),
      read_latency_(t_.cl + t_.tdqsck + t_.burst_clocks),
      write_latency_(t_.cwl + t_.burst_clocks),
      lanes_(static_cast<int>(t_.pseudo_channels * t_.stacks), banks_per_rank_),
      queue_(split_, static_cast<unsigned>(lanes_.lanes()),
             limit_[0] + (split_ ? limit_[1] : 0) + static_cast<unsigned>(lanes_.lanes())),
      done_(done) {
  sc_assert(t_.pseudo_channels >= 1 && t_.pseudo_channels <= 2);
  const int per_rank = lanes_.lanes_per_rank();
  for (int i = 0; i < lanes_.lanes(); ++i) {
    const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
    const int in_group = i % per_rank % static_cast<int>(t_.banks_per_group);
    const int stacks = static_cast<int>(t_.stacks);
    places_[static_cast<std::size_t>(i)] = {byte(i / per_rank / stacks), byte(i / per_rank),
                                            byte(i / per_rank % stacks), byte(i - in_group)};
  }
  for (auto& acts : last_acts_) acts.fill(-kNever);
  sc_assert(t_.banks_per_group <= 8);
  build_distances();
  start_refresh();
}

std::uint16_t ChannelEngine::lane(unsigned pseudo_channel, unsigned stack, unsigned group,
                                  unsigned bank) const {
  const unsigned rank = pseudo_channel * t_.stacks + stack;
  return static_cast<std::uint16_t>(rank * static_cast<unsigned>(lanes_.lanes_per_rank()) +
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
  lanes_.follow(now_);
  if (queue_.ages_exhausted()) {
    queue_.renumber();
    update_all();
  }
  const bool changed = queue_.append(burst, at);
  if (split_ && write_mode_changed()) {
    update_all();
  } else if (changed) {
    update_bank(burst.lane);
  }
  repick();
}

void ChannelEngine::advance(Clock until) {
  while (next_decision() <= until) {
    if (short_cuts_ && until - next_refresh_ >= kept_refreshes() * refresh_interval()) {
      skip_idle_refreshes(until);
    }
    if (short_cuts_ && per_bank_ && idle()) {
      refresh_idle(until);
      if (next_decision() > until) break;
    }
    step();
  }
}

void ChannelEngine::step() {
  if (lone_.column != kNever) return serve_lone();
  const Clock at = next_decision();
  lanes_.follow(at);
  now_ = at;
  if (next_refresh_ == at) {
    step_refresh(at);
    repick();
  }
  if (column_.time == at) {
    issue_column(at);
    if (row_stale_) repick();
  }
  if (row_.time == at) issue_row(at);
  now_ = at + 1;
  repick();
  if (refresh_[0].pending || refresh_[1].pending) schedule_refresh();
}

Clock ChannelEngine::earliest_service() const {
  if (idle()) return kNever;
  if (lone_.column != kNever) return lone_.column;
  // A burst that is no candidate yet needs an ACT first, or a change between reads and writes,
  // which the ACT of the last burst of the other kind may bring about.
  const bool mixed = split_ && queue_.queued(false) != 0 && queue_.queued(true) != 0;
  const Clock wait = mixed ? 1 : act_extra_ + static_cast<Clock>(std::min(t_.trcd_rd, t_.trcd_wr));
  return std::min(column_.time, std::min(row_.time, next_refresh_) + wait);
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
  const auto i = static_cast<std::size_t>(lane);
  const Bank& bank = queue_.bank(lane);
  const RequestIndex miss = bank.lists[list()].miss;
  if (row_.lane == lane) row_stale_ = true;
  if (miss == kNoRequest || (bank.open && !may_precharge(bank)) || gated(lane)) {
    lanes_.row_none[i] = kNoTime;
    return;
  }
  lanes_.row_none[i] = 0;
  lanes_.row_kind[i] = bank.open ? 0 : kAct;
  lanes_.row_age[i] = queue_.at(miss).age;
  if (row_stale_) return;
  const Pick candidate =
      lanes_.row_candidate(lane, std::max(now_, row_bus_free_), split_ ? 0 : act_extra_);
  if (candidate.beats(row_)) row_ = candidate;
}

void ChannelEngine::update_column(int lane) {
  const auto i = static_cast<std::size_t>(lane);
  const Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;
  const RequestIndex next = opened ? bank.opened : bank.lists[list()].hit;
  if (column_.lane == lane) column_stale_ = true;
  if (next == kNoRequest || (!opened && gated(lane))) {
    lanes_.column_none[i] = kNoTime;
    return;
  }
  const Request& request = queue_.at(next);
  lanes_.column_none[i] = 0;
  lanes_.column_kind[i] = request.burst.write ? kWrite : 0;
  lanes_.column_age[i] = static_cast<Lane>(request.age + (opened ? 0 : kNotOpened));
  if (column_stale_) return;
  const Pick candidate = lanes_.column_candidate(lane, std::max(now_, column_bus_free_));
  if (candidate.beats(column_)) column_ = candidate;
}

void ChannelEngine::update_all() {
  row_stale_ = column_stale_ = true;
  for (int lane = 0; lane < lanes_.lanes(); ++lane) update_bank(lane);
}

void ChannelEngine::repick() {
  if (row_stale_) {
    row_ = lanes_.pick_row(std::max(now_, row_bus_free_), split_ ? 0 : act_extra_);
    row_stale_ = false;
  }
  if (column_stale_) {
    column_ = lanes_.pick_column(std::max(now_, column_bus_free_), queue_.holds_writes());
    column_stale_ = false;
  }
}

// Split queues: decides anew whether reads or writes are served; true if that changed.
bool ChannelEngine::write_mode_changed() {
  const unsigned reads = queue_.queued(false);
  const unsigned writes = queue_.queued(true);
  if (writes == 0 && !write_mode_) return false;
  const bool before = write_mode_;
  if (!write_mode_) {
    write_mode_ = writes * 100 > write_high_ || reads == 0;
  } else if (reads != 0) {
    write_mode_ = writes != 0 && writes * 100 >= write_low_;
  }
  return write_mode_ != before;
}

const BusClocks& ChannelEngine::bus(unsigned pseudo_channel, Clock now) {
  bus_[pseudo_channel].settle(now);
  return bus_[pseudo_channel].clocks();
}

}  // namespace npu::model::hbm
