// SPDX-License-Identifier: Apache-2.0
// PlainController: the table, and the refreshes.
#include <algorithm>

#include "tests/timing/hbm/plain_controller.hpp"

namespace npu::model::test {

hbm::Clock PlainController::row_bus_free() const {
  Clock free = history_.in_channel(Kind::kActivate) + t_.act_clocks;
  for (const auto kind :
       {Kind::kPrecharge, Kind::kPrechargeAll, Kind::kRefresh, Kind::kRefreshBank}) {
    free = std::max(free, history_.in_channel(kind) + 1);
  }
  return free;
}

hbm::Clock PlainController::earliest_act(const PlainBank& b) const {
  const unsigned p = b.pseudo_channel;
  const Clock begin = std::max({row_bus_free(), history_.at_bank(Kind::kActivate, b) + t_.trc,
                                history_.in_group(Kind::kActivate, b) + t_.trrd_l,
                                history_.in_pseudo_channel(Kind::kActivate, p) + t_.trrd_s,
                                history_.fourth_last_act(p) + t_.tfaw});
  const Clock opens = std::max({history_.at_bank(Kind::kPrecharge, b) + t_.trp,
                                history_.in_pseudo_channel(Kind::kPrechargeAll, p) + t_.trp,
                                history_.in_pseudo_channel(Kind::kRefresh, p) + t_.trfc,
                                history_.at_bank(Kind::kRefreshBank, b) + t_.trfc_pb,
                                history_.in_pseudo_channel(Kind::kRefreshBank, p) + t_.trrefd});
  return std::max(begin, opens - act_extra_);
}

hbm::Clock PlainController::earliest_pre(const PlainBank& b) const {
  return std::max({row_bus_free(), history_.at_bank(Kind::kActivate, b) + act_extra_ + t_.tras,
                   history_.at_bank(Kind::kRead, b) + t_.trtp,
                   history_.at_bank(Kind::kWrite, b) + t_.cwl + t_.burst_clocks + t_.twr});
}

hbm::Clock PlainController::earliest_read(const PlainBank& b) const {
  const unsigned p = b.pseudo_channel;
  const Clock write_data = Clock{t_.cwl} + t_.burst_clocks;
  Clock at = std::max({history_.in_channel(Kind::kRead) + 1, history_.in_channel(Kind::kWrite) + 1,
                       history_.at_bank(Kind::kActivate, b) + act_extra_ + t_.trcd_rd,
                       history_.in_pseudo_channel(Kind::kRead, p) + t_.tccd_s,
                       history_.in_group(Kind::kRead, b) + t_.tccd_l,
                       history_.in_pseudo_channel(Kind::kWrite, p) + write_data + t_.twtr_s,
                       history_.in_group(Kind::kWrite, b) + write_data + t_.twtr_l});
  for (unsigned stack = 0; stack < t_.stacks; ++stack) {
    if (stack != b.stack) at = std::max(at, history_.in_stack(Kind::kRead, stack) + t_.tccd_r);
  }
  return at;
}

hbm::Clock PlainController::earliest_write(const PlainBank& b) const {
  const unsigned p = b.pseudo_channel;
  return std::max({history_.in_channel(Kind::kRead) + 1, history_.in_channel(Kind::kWrite) + 1,
                   history_.at_bank(Kind::kActivate, b) + act_extra_ + t_.trcd_wr,
                   history_.in_pseudo_channel(Kind::kWrite, p) + t_.tccd_s,
                   history_.in_group(Kind::kWrite, b) + t_.tccd_l,
                   history_.in_pseudo_channel(Kind::kRead, p) + t_.trtw});
}

// Of a closed bank, by either kind of refresh. A REFpb opens rows within its bank: it keeps the
// distances of an ACT (tRRD, tFAW).
hbm::Clock PlainController::earliest_refresh(const PlainBank& b) const {
  const unsigned p = b.pseudo_channel;
  const Clock closed =
      std::max({row_bus_free(), history_.at_bank(Kind::kActivate, b) + act_extra_ + t_.trc,
                history_.at_bank(Kind::kPrecharge, b) + t_.trp,
                history_.in_pseudo_channel(Kind::kPrechargeAll, p) + t_.trp,
                history_.in_pseudo_channel(Kind::kRefresh, p) + t_.trfc,
                history_.at_bank(Kind::kRefreshBank, b) + t_.trfc_pb,
                history_.in_pseudo_channel(Kind::kRefreshBank, p) + t_.trrefd});
  if (!per_bank_) return closed;
  return std::max({closed, history_.in_group(Kind::kActivate, b) + t_.trrd_l,
                   history_.in_pseudo_channel(Kind::kActivate, p) + t_.trrd_s,
                   history_.fourth_last_act(p) + t_.tfaw});
}

PlainBank PlainController::bank_of(unsigned pseudo_channel, std::size_t number) const {
  const auto n = static_cast<unsigned>(number);
  return {pseudo_channel, n / t_.banks_per_group / t_.bank_groups,
          n / t_.banks_per_group % t_.bank_groups, n % t_.banks_per_group};
}

void PlainController::refreshes_fall_due(Clock now) {
  for (auto& refresh : refreshes_) {
    if (refresh.pending || refresh.due > now) continue;
    refresh.pending = true;
    refresh.due += interval();
  }
}

// All-bank with split queues both pseudo channels, with a shared queue the one that is refreshed;
// per-bank the bank.
bool PlainController::held_by_refresh(const PlainBank& b) const {
  const Refresh& own = refreshes_[b.pseudo_channel];
  if (per_bank_) {
    return own.pending &&
           history_.number(bank_of(b.pseudo_channel, own.turn)) == history_.number(b);
  }
  if (!split_) return own.pending;
  return std::any_of(refreshes_.begin(), refreshes_.end(),
                     [](const Refresh& refresh) { return refresh.pending; });
}

bool PlainController::serve_refresh(Clock now) {
  for (unsigned p = 0; p < t_.pseudo_channels; ++p) {
    if (!refreshes_[p].pending) continue;
    if (per_bank_ ? refresh_one_bank(p, now) : refresh_all_banks(p, now)) return true;
    if (split_ && !per_bank_) return false;  // the second pseudo channel after the first
  }
  return false;
}

// PREab as soon as every open bank may be closed, then REF; true if the row bus was used.
bool PlainController::refresh_all_banks(unsigned pseudo_channel, Clock now) {
  bool any_open = false;
  Clock close = 0, refresh = 0;
  for (std::size_t i = 0; i < banks_of_pseudo_channel(); ++i) {
    const PlainBank b = bank_of(pseudo_channel, i);
    refresh = std::max(refresh, earliest_refresh(b));
    if (!row(b).open) continue;
    any_open = true;
    close = std::max(close, row(b).opened ? hbm::kNever : earliest_pre(b));
  }
  if ((any_open ? close : refresh) > now) return false;
  issue(any_open ? Kind::kPrechargeAll : Kind::kRefresh, {pseudo_channel, 0, 0, 0}, 0, now);
  if (!any_open) refreshes_[pseudo_channel].pending = false;
  return true;
}

bool PlainController::refresh_one_bank(unsigned pseudo_channel, Clock now) {
  Refresh& refresh = refreshes_[pseudo_channel];
  const PlainBank b = bank_of(pseudo_channel, refresh.turn);
  const bool open = row(b).open;
  if (open && row(b).opened) return false;
  if ((open ? earliest_pre(b) : earliest_refresh(b)) > now) return false;
  issue(open ? Kind::kPrecharge : Kind::kRefreshBank, b, 0, now);
  if (open) return true;
  refresh.pending = false;
  refresh.turn = (refresh.turn + 1) % banks_of_pseudo_channel();
  return true;
}

}  // namespace npu::model::test
