// SPDX-License-Identifier: Apache-2.0
#include "driver/time_slices/ledger.hpp"

#include <algorithm>
#include <limits>

namespace npu::driver {
namespace {

constexpr unsigned kWhole = 1'000'000;

Picoseconds part_of(Picoseconds whole, unsigned ppm) {
  // Windows are below hours, so that this fits.
  return Picoseconds(whole.count() / kWhole * ppm + whole.count() % kWhole * ppm / kWhole);
}

unsigned ppm_of(unsigned token) {
  return static_cast<unsigned>(std::uint64_t{token} * kWhole / kWholeToken);
}

}  // namespace

TimeSliceAccount& TimeSliceLedger::add(unsigned client, const CoreQuota& quota) {
  auto& account = accounts_[client];
  account.quota = quota;
  scale();
  return account;
}

void TimeSliceLedger::remove(unsigned client) {
  accounts_.erase(client);
  scale();
}

void TimeSliceLedger::set_quota(unsigned client, const CoreQuota& quota) {
  accounts_.at(client).quota = quota;
  scale();
}

void TimeSliceLedger::set_card_token(unsigned token) {
  card_ppm_ = ppm_of(token);
  scale();
}

void TimeSliceLedger::charge(unsigned client, Picoseconds had, Picoseconds billed) {
  of(client).used += billed;
  card_used_ += had;
}

Picoseconds TimeSliceLedger::card_left() const {
  if (card_ppm_ == kWhole) return Picoseconds::max();
  return part_of(options_.window, card_ppm_) - card_used_;
}

// Shares whose sum is above what the card may give are parts of that.
void TimeSliceLedger::scale() {
  std::uint64_t sum = 0;
  for (const auto& [id, account] : accounts_) sum += account.quota.percent;
  for (auto& [id, account] : accounts_) {
    const std::uint64_t percent = account.quota.percent;
    const bool above = sum * (kWhole / 100) > card_ppm_;
    account.quota_ppm =
        static_cast<unsigned>(above ? percent * card_ppm_ / sum : percent * (kWhole / 100));
    account.cap_ppm = std::min(ppm_of(account.quota.token), card_ppm_);
  }
}

Picoseconds TimeSliceLedger::budget(const TimeSliceAccount& account) const {
  return std::min(part_of(part_of(options_.window, gives_ppm_), account.quota_ppm), cap(account));
}

Picoseconds TimeSliceLedger::cap(const TimeSliceAccount& account) const {
  return part_of(options_.window, account.cap_ppm);
}

Picoseconds TimeSliceLedger::left(unsigned client) const {
  const auto& account = of(client);
  const bool elastic = options_.policy == SharingPolicy::kElastic;
  const bool contended = elastic && first(true).has_value();
  const auto limit = elastic && !contended ? cap(account) : budget(account);
  return std::min(limit - account.used, card_left());
}

void TimeSliceLedger::measure(
    const std::function<bool(unsigned, const TimeSliceAccount&)>& kept_waiting) {
  Picoseconds nominal, had;
  bool too_short = false;
  for (const auto& [id, account] : accounts_) {
    const bool wants = kept_waiting(id, account);
    if (!wants && account.used < budget(account)) continue;
    too_short = too_short || (wants && account.used < budget(account));
    nominal += part_of(options_.window, account.effective_ppm());
    had += account.used - account.carried;
  }
  if (!too_short) {  // it may have been for what is over
    gives_ppm_ += (kWhole - gives_ppm_ + 3) / 4;
    return;
  }
  const auto part = static_cast<double>(had.count()) / static_cast<double>(nominal.count());
  gives_ppm_ = static_cast<unsigned>(std::clamp(part, 0.5, 1.0) * kWhole);
}

void TimeSliceLedger::roll(std::optional<unsigned> holder) {
  const auto most = part_of(options_.window, options_.carry_percent * (kWhole / 100));
  const bool contended = std::any_of(accounts_.begin(), accounts_.end(),
                                     [](const auto& each) { return each.second.waiting; });
  // Who has the time slice and others wait was kept waiting before.
  const auto kept_waiting = [&](unsigned id, const TimeSliceAccount& account) {
    return (account.waiting || (holder == id && contended)) && account.effective_ppm() > 0;
  };
  measure(kept_waiting);
  const auto card_over = card_used_ - part_of(options_.window, card_ppm_);
  card_used_ = std::min(most, std::max(card_over, Picoseconds{}));
  Picoseconds credits;
  for (const auto& [id, account] : accounts_) {
    if (kept_waiting(id, account))
      credits += std::max(budget(account) - account.used, Picoseconds{});
  }
  for (auto& [id, account] : accounts_) {
    auto over = account.used - budget(account);
    // On what others did not use a client owes nothing.
    if (options_.policy == SharingPolicy::kElastic) over = std::min(over, credits);
    if (over < Picoseconds{} && !kept_waiting(id, account)) over = {};
    account.used = std::max(Picoseconds{} - most, std::min(most, over));
    account.carried = account.used;
    account.debt = std::max(account.used, Picoseconds{});
  }
}

std::optional<unsigned> TimeSliceLedger::first(bool within_quota) const {
  std::optional<unsigned> best;
  if (card_left() <= Picoseconds{}) return best;
  double best_had = 0;
  for (const auto& [id, account] : accounts_) {
    const auto limit = within_quota ? budget(account) : cap(account);
    if (!account.waiting || account.used >= limit) continue;
    const double quota = std::max(1U, within_quota ? account.effective_ppm() : account.quota_ppm);
    const double had = static_cast<double>(account.used.count()) / quota;
    const bool earlier = best && had == best_had && account.asked < of(*best).asked;
    if (best && had >= best_had && !earlier) continue;
    best = id;
    best_had = had;
  }
  return best;
}

std::optional<unsigned> TimeSliceLedger::next() const {
  const auto within = first(true);
  if (within || options_.policy != SharingPolicy::kElastic) return within;
  return first(false);
}

bool TimeSliceLedger::must_yield(unsigned holder) const {
  const auto& account = of(holder);
  return account.used >= budget(account) && first(true).has_value();
}

bool TimeSliceLedger::unlimited(unsigned client) const {
  const auto& account = of(client);
  if (account.cap_ppm < kWhole) return false;
  if (options_.policy == SharingPolicy::kFixedQuota && account.quota_ppm < kWhole) return false;
  return std::none_of(accounts_.begin(), accounts_.end(), [&](const auto& other) {
    return other.first != client && other.second.waiting;
  });
}

}  // namespace npu::driver
