// SPDX-License-Identifier: Apache-2.0
// The commands of a channel and what each forbids for how long. Limits count from the first clock
// of a command; those that JEDEC counts from the end of a multi-clock ACT are longer by its extra
// clocks, those up to an ACT shorter.
#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {
namespace {

constexpr LaneVector kNowhere = {kNoDistance, kNoDistance, kNoDistance, kNoDistance,
                                 kNoDistance, kNoDistance, kNoDistance, kNoDistance};

int clocks(unsigned value) {
  return static_cast<int>(value);
}

}  // namespace

[[gnu::noinline]] void ChannelEngine::report(CommandKind kind, int lane, std::uint32_t row,
                                             Clock at) {
  const int rank = lane / lanes_.lanes_per_rank();
  const int in_rank = lane % lanes_.lanes_per_rank();
  const auto byte = [](int value) { return static_cast<std::uint8_t>(value); };
  const int groups = clocks(t_.banks_per_group);
  observer_->on_command({at, kind, byte(rank / clocks(t_.stacks)), byte(rank % clocks(t_.stacks)),
                         byte(in_rank / groups), byte(in_rank % groups), row});
}

void ChannelEngine::issue_column(Clock at) {
  const int lane = column_.lane;
  Bank& bank = queue_.bank(lane);
  const bool opened = bank.opened != kNoRequest;
  const RequestIndex index = opened ? bank.opened : bank.lists[list()].hit;
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
  } else {
    queue_.unlink(index);
  }
  (request.write ? lanes_.write : lanes_.read).withdraw(lane);
  queue_.release(index);
  column_stale_ = true;
  if (split_ && write_mode_changed()) {
    update_all();
  } else {
    update_bank(lane);
  }
}

void ChannelEngine::account(const Request& request, int lane, Clock at) {
  const unsigned pseudo_channel = pseudo_channel_of(lane);
  const Bank& bank = queue_.bank(lane);
  LastColumn& last = last_column_[pseudo_channel];
  const bool write = request.write;
  Clock turned = -kNever;
  if (last.write != write) {
    turned = last.at + (write ? clocks(t_.trtw) : clocks(t_.cwl + t_.burst_clocks + t_.twtr_s));
  }
  const Clock trcd = clocks(write ? t_.trcd_wr : t_.trcd_rd) + act_extra_;
  const Clock row_ready = std::max(bank.activated_at + trcd, request.arrived + 1);
  const bool refreshed = !per_bank_ || last_refreshed_[pseudo_channel] == lane;
  bus_[pseudo_channel].burst(at, clocks(t_.burst_clocks), turned, row_ready, refreshed);
  last = {at, write};
  ++(write ? counts_.writes : counts_.reads);
  if (!request.activated) ++counts_.row_hits;
}

// What RD, WR and ACT forbid elsewhere, as vectors of distances over blocks and over a bank group.
void ChannelEngine::build_distances() {
  const auto lane = [](unsigned value) { return static_cast<Lane>(value); };
  const unsigned data = t_.cwl + t_.burst_clocks;  // from WR to the end of its data
  const unsigned ranks = t_.pseudo_channels * t_.stacks;
  const auto blocks = static_cast<unsigned>(lanes_.blocks());
  act_blocks_.fill(kNowhere);
  for (unsigned from = 0; from < ranks; ++from) {
    After& read = after_[0][from];
    After& write = after_[1][from];
    read.read = read.write = write.read = write.write = kNowhere;
    for (unsigned block = 0; block < blocks; ++block) {
      const unsigned to = block * ranks / blocks;
      if (to / t_.stacks == from / t_.stacks) {
        read.read[block] = write.write[block] = lane(t_.tccd_s);
        read.write[block] = lane(t_.trtw);
        write.read[block] = lane(data + t_.twtr_s);
        act_blocks_[to / t_.stacks][block] = 0;
      }
      if (to % t_.stacks != from % t_.stacks) {
        read.read[block] = std::max<Lane>(read.read[block], lane(t_.tccd_r));
      }
    }
  }
  for (auto* group : {&group_ccd_, &group_wtr_, &group_rrd_}) group->fill(kNowhere);
  for (unsigned first = 0; first < 8; first += t_.banks_per_group) {
    for (unsigned bank = first; bank < first + t_.banks_per_group; ++bank) {
      group_ccd_[first][bank] = lane(t_.tccd_l);
      group_wtr_[first][bank] = lane(data + t_.twtr_l);
      group_rrd_[first][bank] = lane(t_.trrd_l);
    }
  }
}

void ChannelEngine::after_read(int lane, Clock at) {
  const Place& here = place(lane);
  const After& after = after_[0][here.rank];
  const Lane now = lanes_.relative(at);
  BankLanes::raise_blocks(lanes_.block_read, now, after.read);
  BankLanes::raise_blocks(lanes_.block_write, now, after.write);
  lanes_.read.raise_group(here.group_begin, now, group_ccd_);
  lanes_.pre.raise(lane, static_cast<Lane>(now + clocks(t_.trtp)));
}

void ChannelEngine::after_write(int lane, Clock at) {
  const Place& here = place(lane);
  const After& after = after_[1][here.rank];
  const Lane now = lanes_.relative(at);
  BankLanes::raise_blocks(lanes_.block_read, now, after.read);
  BankLanes::raise_blocks(lanes_.block_write, now, after.write);
  lanes_.write.raise_group(here.group_begin, now, group_ccd_);
  lanes_.read.raise_group(here.group_begin, now, group_wtr_);
  lanes_.pre.raise(lane, static_cast<Lane>(now + clocks(t_.cwl + t_.burst_clocks + t_.twr)));
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
  const RequestIndex index = queue_.bank(lane).lists[list()].miss;
  const std::uint32_t row = queue_.at(index).row;
  queue_.at(index).activated = true;
  if (observer_) report(CommandKind::kActivate, lane, row, at);
  activate(lane, at);
  if (split_) {
    queue_.unlink(index);
    queue_.bank(lane).opened = index;
  }
  queue_.open_row(lane, row, at);
  row_bus_free_ = at + 1 + act_extra_;
  ++counts_.activates;
  if (split_ && write_mode_changed()) {
    update_all();
  } else {
    update_column(lane);  // and nothing closes the row before that
  }
}

void ChannelEngine::activate(int lane, Clock at) {
  const unsigned pseudo_channel = pseudo_channel_of(lane);
  const Lane now = lanes_.relative(at);
  const auto later = [now](int by) { return static_cast<Lane>(now + by); };
  lanes_.act.raise_group(place(lane).group_begin, now, group_rrd_);
  lanes_.act.raise(lane, later(clocks(t_.trc)));
  lanes_.pre.raise(lane, later(clocks(t_.tras) + act_extra_));
  lanes_.read.raise(lane, later(clocks(t_.trcd_rd) + act_extra_));
  lanes_.write.raise(lane, later(clocks(t_.trcd_wr) + act_extra_));
  lanes_.act.withdraw(lane);

  auto& acts = last_acts_[pseudo_channel];
  auto& cursor = act_cursor_[pseudo_channel];
  acts[cursor] = at;
  cursor = (cursor + 1) % 4;
  const Clock four_ago = acts[cursor] + clocks(t_.tfaw);
  raise_act(pseudo_channel, std::max<Clock>(at + clocks(t_.trrd_s), four_ago));
}

// No ACT in the pseudo channel before `to`.
void ChannelEngine::raise_act(unsigned pseudo_channel, Clock to) {
  BankLanes::raise_blocks(lanes_.block_act, lanes_.relative(to), act_blocks_[pseudo_channel]);
}

// What the bank offers afterwards is for the caller to update_row().
void ChannelEngine::precharge(int lane, Clock at) {
  lanes_.act.raise(lane, lanes_.relative(at + clocks(t_.trp) - act_extra_));
  lanes_.pre.withdraw(lane);
  if (queue_.bank(lane).lists[list()].hit != kNoRequest) {
    lanes_.read.withdraw(lane);
    lanes_.write.withdraw(lane);
    column_stale_ |= column_.lane == lane;
  }
  queue_.close_row(lane);
}

}  // namespace npu::model::hbm
