// SPDX-License-Identifier: Apache-2.0
// The commands of a channel and what each forbids (constraints.hpp: for how long).
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
  const Command command = {at,
                           kind,
                           where.pseudo_channel,
                           where.stack,
                           static_cast<std::uint8_t>(where.in_rank / per_group),
                           static_cast<std::uint8_t>(where.in_rank % per_group),
                           row};
  if (noting_) {
    noted_.push_back(command);
  } else {
    observer_->on_command(command);
  }
}

[[gnu::noinline]] void ChannelEngine::report_noted() {
  const auto earlier = [](const Command& a, const Command& b) {
    const auto by_row_bus = [](const Command& c) { return c.kind != CommandKind::kRead; };
    return a.at != b.at ? a.at < b.at : by_row_bus(a) < by_row_bus(b);
  };
  std::stable_sort(noted_.begin(), noted_.end(), earlier);
  for (const Command& command : noted_) observer_->on_command(command);
  noted_.clear();
  noting_ = false;
}

void ChannelEngine::issue_column(Clock at, Traffic traffic) {
  const int lane = column_.lane;
  Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;
  const Slot index = opened ? bank.opened : bank.lists[list(traffic)].hit;
  const Request& request = queue_.at(index);
  const bool write = ChannelEngine::write(request, traffic);
  if (observer_) report(write ? CommandKind::kWrite : CommandKind::kRead, lane, bank.row, at);
  account(request, lane, at, traffic);
  if (write) {
    after_write(lane, at);
  } else {
    after_read(lane, at);
  }
  hold_group(lane, write);
  done_.emplace_back(at, request.tag, write);
  column_bus_free_ = at + 1;
  column_ = {column_bus_free_, kUnknown};
  if (opened) {
    bank.opened = kNoRequest;
    activated_.remove(lane);
    --opened_;
    if (gated(lane)) schedule_refresh();  // it has waited for this
  } else {
    queue_.unlink(index, write);
  }
  queue_.release(index, write);
  if (write_mode_changed(traffic)) {
    update_all();
  } else if (opened && bank.lists[list(traffic)].hit == kNoRequest && !gated(lane)) {
    offer_precharge(lane, bank.lists[list(traffic)].miss);  // if there is none, never
    no_column(lane);
  } else {
    if (bank.lists[list(traffic)].miss != kNoRequest) update_row(lane, traffic);
    update_column(lane, traffic);
  }
}

void ChannelEngine::account(const Request& request, int lane, Clock at, Traffic traffic) {
  const unsigned number = pseudo_channel_of(lane);
  BusAccount& bus = bus_[number];
  PseudoChannel& here = pseudo_channels_[number];
  const bool write = ChannelEngine::write(request, traffic);
  if (at > bus.accounted()) {
    const Bank& bank = queue_.bank(lane);
    const Clock ready = std::max(write ? bank.write : bank.read, request.arrived + 1);
    const bool refreshed = bank.refreshed > bus.waits_from() || refresh_[number].behind <= at;
    if (here.last_write == write && !refreshed) {
      bus.before_burst(at, ready);
    } else {
      account_in_full(lane, write, at, ready);
    }
  }
  bus.burst(at, clocks(t_.burst_clocks));
  here.last_column = at;
  here.last_write = write;
  ++(write ? counts_.writes : counts_.reads);
  counts_.row_hits += request.activated ? 0 : 1;
}

// With turnaround and refreshes.
[[gnu::noinline]] void ChannelEngine::account_in_full(int lane, bool write, Clock at, Clock ready) {
  const unsigned number = pseudo_channel_of(lane);
  const PseudoChannel& here = pseudo_channels_[number];
  Clock turned = -kNever;
  if (here.last_write != write) {
    turned = here.last_column + (write ? limits_.columns[0][1] : limits_.columns[1][0]);
  }
  bus_[number].before_burst(at, turned, ready, refreshes_of(lane, at));
}

// What RD and WR forbid in the other blocks of lanes.
void ChannelEngine::build_distances() {
  for (int from = 0; from < lanes_; from += Candidates::kBlock) {
    for (int to = 0; to < lanes_; to += Candidates::kBlock) {
      const bool here = place(from).pseudo_channel == place(to).pseudo_channel;
      const bool same_stack = place(from).stack == place(to).stack;
      const auto distance = [&](unsigned first, unsigned second) {
        const Clock own = here ? limits_.columns[first][second] : Constraints::kNone;
        const Clock other =
            same_stack ? Constraints::kNone : limits_.columns_of_other_stacks[first][second];
        return static_cast<Lane>(std::max(own, other));
      };
      after_read_[block(from)].to_read[block(to)] = distance(kRead, kRead);
      after_read_[block(from)].to_write[block(to)] = distance(kRead, kWrite);
      after_write_[block(from)].to_read[block(to)] = distance(kWrite, kRead);
      after_write_[block(from)].to_write[block(to)] = distance(kWrite, kWrite);
    }
  }
}

void ChannelEngine::after_read(int lane, Clock at) {
  const auto& distances = after_read_[block(lane)];
  columns_.hold(kRead, at, distances.to_read);
  columns_.hold(kWrite, at, distances.to_write);
  group(lane).read = at + limits_.group_read_to_read;  // what held this RD back is over
  raise(queue_.bank(lane).pre, at + limits_.read_to_pre);
}

void ChannelEngine::after_write(int lane, Clock at) {
  const auto& distances = after_write_[block(lane)];
  columns_.hold(kRead, at, distances.to_read);
  columns_.hold(kWrite, at, distances.to_write);
  group(lane).write = at + limits_.group_write_to_write;
  raise(group(lane).read, at + limits_.group_write_to_read);
  raise(queue_.bank(lane).pre, at + limits_.write_to_pre);
}

void ChannelEngine::issue_row(Clock at, Traffic traffic) {
  const int lane = row_.lane;
  if (queue_.bank(lane).open) {
    if (observer_) report(CommandKind::kPrecharge, lane, 0, at);
    precharge(lane, at);
    row_bus_free_ = at + 1;
    row_ = {row_bus_free_, kUnknown};
    ++counts_.precharges;
    const Clock limit = std::max(act_limit(lane), pseudo_channel(lane).act);
    rows_.becomes_one(
        lane,
        limit + (split(traffic) ? 0 : act_handicap_));  // for the same request, the bank's oldest
    row_.offered(std::max(limit, row_bus_free_));
    return;
  }
  const Slot index = queue_.bank(lane).lists[list(traffic)].miss;
  const std::uint32_t row = queue_.at(index).row;
  queue_.at(index).activated = true;
  if (observer_) report(CommandKind::kActivate, lane, row, at);
  activate(lane, at);
  if (split(traffic)) {
    queue_.unlink_first(index, write(queue_.at(index), traffic));
    queue_.bank(lane).opened = index;
    activated_.add(lane);
    ++opened_;
  }
  queue_.open_row(lane, row);
  row_bus_free_ = at + 1 + act_extra_;
  row_ = {row_bus_free_, kUnknown};
  ++counts_.activates;
  if (write_mode_changed(traffic)) {
    update_all();
  } else if (split(traffic)) {
    offer_column(lane, index, true, traffic);  // and nothing closes the row before that
  } else {
    update_column(lane);
  }
}

void ChannelEngine::activate(int lane, Clock at) {
  PseudoChannel& here = pseudo_channel(lane);
  Bank& bank = queue_.bank(lane);
  // What held this ACT back is over: these need no comparison.
  group(lane).act = at + limits_.group_act_to_act;
  bank.act = at + limits_.act_to_act;
  bank.pre = at + limits_.act_to_pre;
  bank.read = at + limits_.act_to_column[0];
  bank.write = at + limits_.act_to_column[1];

  here.last_acts[here.act_cursor] = at;
  here.act_cursor = (here.act_cursor + 1) % 4;
  raise(here.act,
        std::max(at + limits_.any_act_to_act, here.last_acts[here.act_cursor] + limits_.four_acts));
  rows_.activated(lane, static_cast<int>(pseudo_channel_of(lane)) * lanes_per_pseudo_channel_,
                  lanes_per_pseudo_channel_, here.act + act_handicap_,
                  group(lane).act + act_handicap_);
}

void ChannelEngine::hold_activates(unsigned pseudo_channel, Clock until) {
  Clock& limit = pseudo_channels_[pseudo_channel].act;
  raise(limit, until);
  rows_.raise(static_cast<int>(pseudo_channel) * lanes_per_pseudo_channel_,
              lanes_per_pseudo_channel_, kAct, limit + act_handicap_);
}

// What the bank offers afterwards is for the caller to update_row().
void ChannelEngine::precharge(int lane, Clock at) {
  Bank& bank = queue_.bank(lane);
  raise(bank.act, at + limits_.pre_to_act);
  if (bank.lists[list()].hit != kNoRequest) {
    no_column(lane);
    column_.withdrawn(lane);
  }
  queue_.close_row(lane);
}

}  // namespace npu::model::hbm
