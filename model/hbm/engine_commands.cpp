// SPDX-License-Identifier: Apache-2.0
// The commands of a channel and what each forbids for how long. Limits count from the first clock
// of a command; those that JEDEC counts from the end of a multi-clock ACT are longer by its extra
// clocks, those up to an ACT shorter.
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {
namespace {

int clocks(unsigned value) {
  return static_cast<int>(value);
}

}  // namespace

[[gnu::noinline]] void ChannelEngine::report(CommandKind kind, int lane, std::uint32_t row,
                                             Clock at) {
  const Place& where = place(lane);
  const auto per_group = t_.banks_per_group;
  observer_->on_command({at, kind, where.pseudo_channel, where.stack,
                         static_cast<std::uint8_t>(where.in_rank / per_group),
                         static_cast<std::uint8_t>(where.in_rank % per_group), row});
}

void ChannelEngine::issue_column(Clock at) {
  const int lane = column_.lane;
  Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;
  const Slot index = opened ? bank.opened : bank.lists[list()].hit;
  const Request& request = queue_.at(index);
  if (observer_)
    report(request.write ? CommandKind::kWrite : CommandKind::kRead, lane, bank.row, at);
  account(request, lane, at);
  if (request.write) {
    after_write(lane, at);
  } else {
    after_read(lane, at);
  }
  done_.push_back({at, request.tag, request.write});
  column_bus_free_ = at + 1;
  if (opened) {
    bank.opened = kNoRequest;
    --opened_;
  } else {
    queue_.unlink(index);
  }
  queue_.release(index);
  column_stale_ = true;
  if (split_ && write_mode_changed()) {
    update_all();
  } else {
    update_bank(lane);
  }
}

void ChannelEngine::account(const Request& request, int lane, Clock at) {
  const unsigned number = pseudo_channel_of(lane);
  BusAccount& bus = bus_[number];
  PseudoChannel& here = pseudo_channels_[number];
  const bool write = request.write;
  if (at > bus.accounted()) {
    Clock turned = -kNever;
    if (here.last_write != write) {
      turned = here.last_column + (write ? clocks(t_.trtw) : write_latency_ + clocks(t_.twtr_s));
    }
    const Bank& bank = queue_.bank(lane);
    const Clock ready = std::max(write ? bank.write : bank.read, request.arrived + 1);
    if (bank.refreshed > bus.waits_from() || refresh_[number].behind <= at) {
      bus.before_burst(at, turned, ready, refreshes_of(lane, at));
    } else {
      bus.before_burst(at, turned, ready);
    }
  }
  bus.burst(at, clocks(t_.burst_clocks));
  here.last_column = at;
  here.last_write = write;
  ++(write ? counts_.writes : counts_.reads);
  counts_.row_hits += request.activated ? 0 : 1;
}

// What RD and WR forbid in the other blocks of lanes.
void ChannelEngine::build_distances() {
  const auto blocks = block(lanes_);
  for (std::size_t from = 0; from < blocks; ++from) {
    for (std::size_t to = 0; to < blocks; ++to) {
      const Place& a = place(static_cast<int>(from) * Candidates::kBlock);
      const Place& b = place(static_cast<int>(to) * Candidates::kBlock);
      const bool here = a.pseudo_channel == b.pseudo_channel;
      const Clock read = std::max(here ? Clock{t_.tccd_s} : -kNever,
                                  a.stack != b.stack ? Clock{t_.tccd_r} : -kNever);
      after_read_[from][to] = read;
      after_write_[from][to] = here ? write_latency_ + t_.twtr_s : -kNever;
    }
  }
}

void ChannelEngine::after_read(int lane, Clock at) {
  const auto& distances = after_read_[block(lane)];
  for (std::size_t b = 0; b < block(lanes_); ++b) raise(read_from_[b], at + distances[b]);
  raise(pseudo_channel(lane).write, at + t_.trtw);
  group(lane).read = at + t_.tccd_l;  // what held this RD back is over
  columns_.raise_group(place(lane).group_begin, 0, group(lane).read);
  raise(queue_.bank(lane).pre, at + t_.trtp);
}

void ChannelEngine::after_write(int lane, Clock at) {
  const auto& distances = after_write_[block(lane)];
  for (std::size_t b = 0; b < block(lanes_); ++b) raise(read_from_[b], at + distances[b]);
  raise(pseudo_channel(lane).write, at + t_.tccd_s);
  const int group_begin = place(lane).group_begin;
  const Clock data_end = at + write_latency_;
  group(lane).write = at + t_.tccd_l;
  columns_.raise_group(group_begin, 1, group(lane).write);
  raise(group(lane).read, data_end + t_.twtr_l);
  columns_.raise_group(group_begin, 0, data_end + t_.twtr_l);
  raise(queue_.bank(lane).pre, data_end + t_.twr);
}

void ChannelEngine::issue_row(Clock at) {
  const int lane = row_.lane;
  row_stale_ = true;
  if (queue_.bank(lane).open) {
    if (observer_) report(CommandKind::kPrecharge, lane, 0, at);
    precharge(lane, at);
    row_bus_free_ = at + 1;
    ++counts_.precharges;
    update_row(lane);
    return;
  }
  const Slot index = queue_.bank(lane).lists[list()].miss;
  const std::uint32_t row = queue_.at(index).row;
  queue_.at(index).activated = true;
  if (observer_) report(CommandKind::kActivate, lane, row, at);
  activate(lane, at);
  if (split_) {
    queue_.unlink(index);
    queue_.bank(lane).opened = index;
    ++opened_;
  }
  queue_.open_row(lane, row);
  row_bus_free_ = at + 1 + act_extra_;
  ++counts_.activates;
  if (split_ && write_mode_changed()) {
    update_all();
  } else {
    update_column(lane);  // and nothing closes the row before that
  }
}

void ChannelEngine::activate(int lane, Clock at) {
  PseudoChannel& here = pseudo_channel(lane);
  Bank& bank = queue_.bank(lane);
  rows_.withdraw(lane);
  // What held this ACT back is over: these need no comparison.
  group(lane).act = at + t_.trrd_l;
  rows_.raise_group(place(lane).group_begin, kAct, group(lane).act + act_handicap_);
  bank.act = at + t_.trc;
  bank.pre = at + t_.tras + act_extra_;
  bank.read = at + trcd_[0];
  bank.write = at + trcd_[1];

  here.last_acts[here.act_cursor] = at;
  here.act_cursor = (here.act_cursor + 1) % 4;
  here.act = std::max({here.act, at + t_.trrd_s, here.last_acts[here.act_cursor] + t_.tfaw});
}

// What the bank offers afterwards is for the caller to update_row().
void ChannelEngine::precharge(int lane, Clock at) {
  Bank& bank = queue_.bank(lane);
  raise(bank.act, at + t_.trp - act_extra_);
  rows_.withdraw(lane);
  if (bank.lists[list()].hit != kNoRequest) {
    columns_.withdraw(lane);
    column_stale_ |= column_.lane == lane;
  }
  queue_.close_row(lane);
}

}  // namespace npu::model::hbm
