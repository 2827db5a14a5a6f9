// SPDX-License-Identifier: Apache-2.0
// A burst that comes to an idle channel with no refresh in its way: the clocks of its commands
// follow from the limits at once, without queue and candidates. The same commands at the same
// clocks as the general way gives it.
#include <algorithm>

#include "model/hbm/channel_engine.hpp"

namespace npu::model::hbm {

// Plans the commands of a burst accepted at `at`; false: the general way is needed.
[[gnu::noinline]] bool ChannelEngine::plan_lone(const Burst& burst, Clock at) {
  if (!short_cuts_ || refresh_[0].pending || refresh_[1].pending) return false;
  if (limit_[0] < 2 || limit_[1] < 2) return false;  // room() counts the queue alone
  const Clock now = std::max(now_, at + 1);
  follow(now);
  const Bank& bank = queue_.bank(burst.lane);
  const PseudoChannel& pseudo = pseudo_channel(burst.lane);
  Lone lone{burst, at, kNever, kNever, kNever};
  lone.column = std::max(now, column_from(burst.lane, burst.write));
  if (!bank.open || bank.row != burst.row) {
    Clock activate = std::max(act_limit(burst.lane), pseudo.act);
    Clock row_bus = std::max(now, row_bus_free_);
    if (bank.open) {
      lone.precharge = std::max(row_bus, bank.pre);
      row_bus = lone.precharge + 1;
      activate = std::max(activate, lone.precharge + limits_.pre_to_act);
    }
    lone.activate = std::max(row_bus, activate);
    const Clock trcd = limits_.act_to_column[burst.write ? 1 : 0];
    lone.column = std::max(lone.column, lone.activate + std::max<Clock>(trcd, 1));
  }
  if (next_refresh_ <= lone.column) return false;
  lone_ = lone;
  row_ = {};
  column_ = {lone.column, kUnknown};
  now_ = now;
  return true;
}

// It is not alone any more: as if it had gone the general way from the start.
[[gnu::noinline]] void ChannelEngine::queue_lone() {
  const Lone lone = lone_;
  lone_.column = column_.at = kNever;
  enqueue(lone.burst, lone.arrived);
}

[[gnu::noinline]] void ChannelEngine::serve_lone() {
  const Lone lone = lone_;
  const int lane = lone.burst.lane;
  lone_.column = column_.at = kNever;
  Request request{};
  request.write = lone.burst.write;
  request.arrived = lone.arrived;
  if (lone.precharge != kNever) {
    if (observer_) report(CommandKind::kPrecharge, lane, 0, lone.precharge);
    precharge(lane, lone.precharge);
    ++counts_.precharges;
  }
  if (lone.activate != kNever) {
    if (observer_) report(CommandKind::kActivate, lane, lone.burst.row, lone.activate);
    activate(lane, lone.activate);
    queue_.open_row(lane, lone.burst.row);
    row_bus_free_ = lone.activate + 1 + act_extra_;
    request.activated = true;
    ++counts_.activates;
  }
  if (observer_) {
    report(lone.burst.write ? CommandKind::kWrite : CommandKind::kRead, lane, lone.burst.row,
           lone.column);
  }
  account(request, lane, lone.column, Traffic::kAny);
  if (lone.burst.write) {
    after_write(lane, lone.column);
  } else {
    after_read(lane, lone.column);
  }
  done_.emplace_back(lone.column, lone.burst.tag, lone.burst.write);
  if (split_) list_ = lone.burst.write ? 1 : 0;
  now_ = column_bus_free_ = lone.column + 1;
}

}  // namespace npu::model::hbm
