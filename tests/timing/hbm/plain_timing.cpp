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

// The last command that a rule counts from.
hbm::Clock PlainController::last(const Rule& rule, const PlainBank& b) const {
  Clock at = PlainHistory::kLongAgo;
  switch (rule.among) {
    case Among::kBank:
      at = history_.at_bank(rule.from, b);
      if (rule.from != Kind::kPrecharge) return at;
      return std::max(at, history_.in_pseudo_channel(Kind::kPrechargeAll, b.pseudo_channel));
    case Among::kGroup:
      return history_.in_group(rule.from, b);
    case Among::kPseudoChannel:
      return history_.in_pseudo_channel(rule.from, b.pseudo_channel);
    case Among::kOtherStacks:
      for (unsigned stack = 0; stack < t_.stacks; ++stack) {
        if (stack != b.stack) at = std::max(at, history_.in_stack(rule.from, stack));
      }
      return at;
    case Among::kFourth:
      break;
  }
  return history_.fourth_last_act(b.pseudo_channel);
}

hbm::Clock PlainController::allowed(Kind to, const PlainBank& b) const {
  Clock at = 0;
  for (const auto& rule : kRules) {
    if (rule.to != to || t_.*rule.clocks == 0) continue;
    at = std::max(at, last(rule, b) + distance(rule, t_, act_extra_));
  }
  return to == Kind::kActivate ? at - act_extra_ : at;
}

hbm::Clock PlainController::earliest_row(Kind kind, const PlainBank& b) const {
  return std::max(row_bus_free(), allowed(kind, b));
}

hbm::Clock PlainController::earliest_column(Kind kind, const PlainBank& b) const {
  return std::max({history_.in_channel(Kind::kRead) + 1, history_.in_channel(Kind::kWrite) + 1,
                   allowed(kind, b)});
}

// Of a closed bank, by either kind of refresh. A REFpb opens rows within its bank: it keeps the
// distances of an ACT (tRRD, tFAW), from first clock to first clock.
hbm::Clock PlainController::earliest_refresh(const PlainBank& b) const {
  Clock at = row_bus_free();
  for (const auto& rule : kRules) {
    if (rule.to != Kind::kActivate || t_.*rule.clocks == 0) continue;
    const bool full = holds_refresh(rule);
    if (!full && !per_bank_) continue;
    at = std::max(at, last(rule, b) + distance(rule, t_, act_extra_) - (full ? 0 : act_extra_));
  }
  return at;
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
    close = std::max(close, row(b).opened ? hbm::kNever : earliest_row(Kind::kPrecharge, b));
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
  if ((open ? earliest_row(Kind::kPrecharge, b) : earliest_refresh(b)) > now) return false;
  issue(open ? Kind::kPrecharge : Kind::kRefreshBank, b, 0, now);
  if (open) return true;
  refresh.pending = false;
  refresh.turn = (refresh.turn + 1) % banks_of_pseudo_channel();
  return true;
}

}  // namespace npu::model::test
