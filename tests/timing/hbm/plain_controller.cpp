// SPDX-License-Identifier: Apache-2.0
#include "tests/timing/hbm/plain_controller.hpp"

#include <algorithm>

namespace npu::model::test {

PlainController::PlainController(const HbmConfig& config)
    : config_(config),
      t_(config.timings),
      split_(config.policy == HbmPolicy::kSplitQueues),
      per_bank_(t_.trfc_pb != 0),
      act_extra_(Clock{t_.act_clocks} - 1),
      history_(t_),
      rows_(history_.banks()),
      refreshes_(t_.pseudo_channels) {
  for (auto& refresh : refreshes_) refresh.due = interval();
  // Staggered: the second pseudo channel half an interval before the first.
  if (!split_ && t_.pseudo_channels == 2) refreshes_[1].due -= interval() / 2;
}

void PlainController::tick(Clock now) {
  refreshes_fall_due(now);
  serve_column(now);
  choose_kind();
  if (row_bus_free() <= now && !serve_refresh(now)) serve_row(now);
  choose_kind();
}

void PlainController::accept(const PlainBurst& burst) {
  requests_.push_back({burst});
  choose_kind();
}

bool PlainController::room(bool write) const {
  if (!split_) return requests_.size() < config_.read_queue;
  return queued(write) < (write ? config_.write_queue : config_.read_queue);
}

unsigned PlainController::queued(bool write) const {
  return static_cast<unsigned>(
      std::count_if(requests_.begin(), requests_.end(),
                    [&](const Request& r) { return r.burst.write == write && !opened(r); }));
}

void PlainController::choose_kind() {
  if (!split_) return;
  const unsigned reads = queued(false), writes = queued(true);
  const unsigned percent = 100 * writes;
  if (!writing_) {
    writing_ =
        percent > config_.write_high_percent * config_.write_queue || (reads == 0 && writes != 0);
  } else if (reads != 0 &&
             (writes == 0 || percent < config_.write_low_percent * config_.write_queue)) {
    writing_ = false;
  }
}

bool PlainController::hit(const Request& r) const {
  return row(r.burst.at).open && row(r.burst.at).number == r.burst.row;
}

// Column commands: an opened burst first, then the oldest row hit.
bool PlainController::column_offer(std::size_t request, std::vector<bool>& offered) const {
  const Request& r = requests_[request];
  const std::size_t bank = history_.number(r.burst.at);
  if (offered[bank] || !hit(r)) return false;
  if (!opened(r)) {
    if (!served(r) || row(r.burst.at).opened || held_by_refresh(r.burst.at)) return false;
  }
  offered[bank] = true;
  return true;
}

void PlainController::serve_column(Clock now) {
  std::vector<bool> offered(history_.banks());
  std::size_t best = requests_.size();
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (!column_offer(i, offered)) continue;
    const PlainBurst& burst = requests_[i].burst;
    if (earliest_column(burst.write ? Kind::kWrite : Kind::kRead, burst.at) > now) continue;
    if (best == requests_.size() || (opened(requests_[i]) && !opened(requests_[best]))) best = i;
  }
  if (best == requests_.size()) return;
  const Request r = requests_[best];
  requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(best));
  ++(r.burst.write ? counts_.writes : counts_.reads);
  if (!r.activated) ++counts_.row_hits;
  if (opened(r)) row(r.burst.at).opened = false;
  issue(r.burst.write ? Kind::kWrite : Kind::kRead, r.burst.at, r.burst.row, now);
  done_.push_back({now, r.burst.tag, r.burst.write});
}

// Row commands: ACT for the oldest request of a closed bank, PRE for the oldest miss of an open
// one. `blocked`: the bank has made its offer, or a hit keeps its row open.
bool PlainController::row_offer(std::size_t request, std::vector<bool>& blocked,
                                Choice& choice) const {
  const Request& r = requests_[request];
  const PlainBank& b = r.burst.at;
  const std::size_t bank = history_.number(b);
  if (blocked[bank] || !served(r) || held_by_refresh(b)) return false;
  blocked[bank] = true;
  if (!row(b).open) {
    const Clock at = earliest_row(Kind::kActivate, b);
    choice = {request, Kind::kActivate, at, at + (split_ ? 0 : act_extra_)};
    return true;
  }
  if (hit(r)) return false;
  const bool kept = split_ ? row(b).opened
                           : std::any_of(requests_.begin(), requests_.end(), [&](const Request& o) {
                               return history_.number(o.burst.at) == bank && hit(o);
                             });
  if (kept) return false;
  const Clock at = earliest_row(Kind::kPrecharge, b);
  choice = {request, Kind::kPrecharge, at, at};
  return true;
}

void PlainController::serve_row(Clock now) {
  std::vector<bool> blocked(history_.banks());
  Choice best{0, Kind::kRefresh, hbm::kNever, hbm::kNever};
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    Choice choice = best;
    if (!row_offer(i, blocked, choice)) continue;
    choice.competes += std::max<Clock>(now - choice.earliest, 0);
    choice.earliest = std::max(now, choice.earliest);
    if (choice.competes < best.competes) best = choice;
  }
  if (best.earliest > now) return;
  Request& r = requests_[best.request];
  if (best.kind == Kind::kActivate) r.activated = true;
  issue(best.kind, r.burst.at, r.burst.row, now);
}

void PlainController::issue(Kind kind, const PlainBank& b, std::uint32_t row, Clock now) {
  history_.record(kind, b, now);
  const auto small = [](unsigned value) { return static_cast<std::uint8_t>(value); };
  commands_.push_back(
      {now, kind, small(b.pseudo_channel), small(b.stack), small(b.group), small(b.bank), row});
  switch (kind) {
    case Kind::kActivate:
      ++counts_.activates;
      this->row(b) = {true, row, split_};
      break;
    case Kind::kPrecharge:
      ++counts_.precharges;
      this->row(b).open = false;
      break;
    case Kind::kPrechargeAll:
      ++counts_.precharges;
      for (std::size_t i = 0; i < banks_of_pseudo_channel(); ++i) {
        this->row(bank_of(b.pseudo_channel, i)).open = false;
      }
      break;
    case Kind::kRefresh:
    case Kind::kRefreshBank:
      ++counts_.refreshes;
      break;
    case Kind::kRead:
    case Kind::kWrite:
      break;
  }
}

}  // namespace npu::model::test
