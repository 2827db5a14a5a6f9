// SPDX-License-Identifier: Apache-2.0
#include "workloads/replay/bank_queue_engine.hpp"

#include <algorithm>
#include <systemc>

namespace npu::replay {
namespace {

bool is_column(CommandKind kind) {
  return kind == CommandKind::kRead || kind == CommandKind::kWrite;
}

void raise(Clock& limit, Clock to) {
  limit = std::max(limit, to);
}

}  // namespace

BankQueueEngine::BankQueueEngine(const ReplayConfig& config, std::vector<BurstDone>& done)
    : t_(config.hbm.timings),
      limit_{config.hbm.read_queue, config.hbm.write_queue},
      write_batch_(config.hbm.write_queue * config.hbm.write_low_percent / 100),
      bank_queue_(config.bank_queue),
      banks_(std::size_t{t_.bank_groups} * t_.banks_per_group),
      due_(t_.trefi),
      done_(done) {
  sc_assert(t_.pseudo_channels == 1 && t_.stacks == 1 && t_.act_clocks == 1);
  acts_.fill(-kNever);
}

void BankQueueEngine::accept(const Burst& burst, Clock at) {
  sc_assert(room(burst.write));
  transactions_[burst.write ? 1 : 0].push_back(burst);
  if (!burst.write) ++reads_;
  later(at);
}

void BankQueueEngine::advance(Clock until) {
  while (next_decision() <= until) decide(next_decision());
}

void BankQueueEngine::decide(Clock at) {
  next_ = kNever;
  if (at >= due_) {
    refreshing_ = true;
    due_ += t_.trefi;
  }
  CommandKind first = CommandKind::kPrecharge;
  const bool refreshed = refreshing_ && refresh(at);
  if (refreshed || issue_next(at, nullptr, first)) {
    later(at + 1);
    CommandKind second{};
    issue_next(at, &first, second);
  }
  pass(at);
}

// The next command of a refresh; true if one was issued.
bool BankQueueEngine::refresh(Clock at) {
  Clock all_ready = at;
  bool open = false;
  for (std::size_t i = 0; i < banks_.size(); ++i) {
    const Bank& bank = banks_[i];
    if (!bank.open) {
      all_ready = std::max(all_ready, bank.refresh);
      continue;
    }
    open = true;
    if (bank.pre <= at) {
      precharge(i, at);
      return true;
    }
    later(bank.pre);
  }
  if (open) return false;
  if (all_ready > at) {
    later(all_ready);
    return false;
  }
  report(CommandKind::kRefresh, 0, 0, at);
  for (auto& bank : banks_) {
    raise(bank.act, at + t_.trfc);
    raise(bank.refresh, at + t_.trfc);
  }
  refreshing_ = false;
  return true;
}

// Issues what is found next, unless it needs the same bus as `first` in this clock.
bool BankQueueEngine::issue_next(Clock at, const CommandKind* first, CommandKind& issued) {
  Choice choice{};
  if (refreshing_ || !choose(at, choice)) return false;
  issued = choice.kind;
  if (first != nullptr && is_column(*first) == is_column(choice.kind)) return false;
  issue(choice, at);
  return true;
}

bool BankQueueEngine::choose(Clock at, Choice& choice) {
  for (std::size_t i = 0; i < banks_.size(); ++i) {
    turn_ = (turn_ + 1) % banks_.size();
    if (choose_in(turn_, at, choice)) return true;
  }
  return false;
}

bool BankQueueEngine::choose_in(std::size_t index, Clock at, Choice& choice) {
  const Bank& bank = banks_[index];
  const Clock window = acts_[oldest_act_] + t_.tfaw;
  for (std::size_t entry = 0; entry < bank.queue.size(); ++entry) {
    const Burst& burst = bank.queue[entry];
    CommandKind kind = CommandKind::kActivate;
    Clock legal = std::max(bank.act, window);
    if (bank.open && bank.row != burst.row) {
      kind = CommandKind::kPrecharge;
      legal = bank.pre;
      if (!may_precharge(bank, entry)) continue;
    } else if (bank.open) {
      kind = burst.write ? CommandKind::kWrite : CommandKind::kRead;
      legal = burst.write ? bank.write : bank.read;
    }
    if (legal <= at) {
      choice = {kind, index, entry};
      return true;
    }
    later(legal);
  }
  return false;
}

bool BankQueueEngine::may_precharge(const Bank& bank, std::size_t entry) const {
  if (entry != 0) return false;
  if (bank.hits >= kRowHits) return true;
  return std::none_of(bank.queue.begin(), bank.queue.end(),
                      [&](const Burst& burst) { return burst.row == bank.row; });
}

// One transaction into the queue of its bank.
void BankQueueEngine::pass(Clock at) {
  const auto& writes = transactions_[1];
  if (draining_ == 0 && !writes.empty() &&
      (writes.size() >= limit_[1] || (transactions_[0].empty() && writes.size() >= write_batch_))) {
    draining_ = writes.size();
  }
  auto& from = transactions_[draining_ != 0 ? 1 : 0];
  const auto fits = std::find_if(from.begin(), from.end(), [this](const Burst& burst) {
    return banks_[burst.lane].queue.size() < bank_queue_;
  });
  if (fits == from.end()) return;
  if (fits->write) --draining_;
  banks_[fits->lane].queue.push_back(*fits);
  from.erase(fits);
  later(at + 1);
}

void BankQueueEngine::issue(const Choice& choice, Clock at) {
  Bank& bank = banks_[choice.bank];
  const Burst burst = bank.queue[choice.entry];
  switch (choice.kind) {
    case CommandKind::kActivate:
      return activate(choice.bank, burst.row, at);
    case CommandKind::kPrecharge:
      return precharge(choice.bank, at);
    default:
      report(choice.kind, choice.bank, burst.row, at);
      column(choice.bank, burst.write, at);
      bank.queue.erase(bank.queue.begin() + static_cast<std::ptrdiff_t>(choice.entry));
      done_.emplace_back(at, burst.tag, burst.write);
      if (!burst.write) --reads_;
  }
}

void BankQueueEngine::activate(std::size_t index, std::uint32_t row, Clock at) {
  report(CommandKind::kActivate, index, row, at);
  for (std::size_t i = 0; i < banks_.size(); ++i) {
    const bool same_group = i / t_.banks_per_group == index / t_.banks_per_group;
    raise(banks_[i].act, at + (same_group ? t_.trrd_l : t_.trrd_s));
  }
  Bank& bank = banks_[index];
  bank.open = true;
  bank.row = row;
  bank.hits = 0;
  raise(bank.act, at + t_.trc);
  raise(bank.refresh, at + t_.trc);
  raise(bank.pre, at + t_.tras);
  raise(bank.read, at + t_.trcd_rd);
  raise(bank.write, at + t_.trcd_wr);
  acts_[oldest_act_] = at;
  oldest_act_ = (oldest_act_ + 1) % acts_.size();
}

void BankQueueEngine::precharge(std::size_t index, Clock at) {
  Bank& bank = banks_[index];
  report(CommandKind::kPrecharge, index, bank.row, at);
  bank.open = false;
  raise(bank.act, at + t_.trp);
  raise(bank.refresh, at + t_.trp);
}

void BankQueueEngine::column(std::size_t index, bool write, Clock at) {
  const Clock data_end = at + t_.cwl + t_.burst_clocks;
  for (std::size_t i = 0; i < banks_.size(); ++i) {
    const bool same_group = i / t_.banks_per_group == index / t_.banks_per_group;
    const Clock next = at + (same_group ? t_.tccd_l : t_.tccd_s);
    raise(banks_[i].read, write ? data_end + (same_group ? t_.twtr_l : t_.twtr_s) : next);
    raise(banks_[i].write, write ? next : at + t_.trtw);
  }
  Bank& bank = banks_[index];
  ++bank.hits;
  raise(bank.pre, write ? data_end + t_.twr : at + t_.trtp);
}

void BankQueueEngine::report(CommandKind kind, std::size_t bank, std::uint32_t row, Clock at) {
  if (observer_ == nullptr) return;
  observer_->on_command({at, kind, 0, 0, static_cast<std::uint8_t>(bank / t_.banks_per_group),
                         static_cast<std::uint8_t>(bank % t_.banks_per_group), row});
}

}  // namespace npu::replay
