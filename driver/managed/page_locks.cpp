// SPDX-License-Identifier: Apache-2.0
#include "driver/managed/page_locks.hpp"

#include <algorithm>

namespace npu::driver {

std::atomic<std::uint64_t> CardLock::made{0};

void CardLock::join(const std::vector<std::shared_ptr<CardLock>>& cards) {
  for (const auto& card : cards) {
    card->spin_.lock(card->clock_);
    const SpinLockHolder holder(card->spin_);
    for (const auto& other : cards) {
      if (other == card) continue;
      auto& known = card->neighbours_;
      auto found = std::find_if(known.begin(), known.end(),
                                [&](const Neighbour& one) { return one.lock == other; });
      if (found == known.end()) found = known.insert(known.end(), {other, 0});
      ++found->times;
    }
  }
}

void CardLock::part(const std::vector<std::shared_ptr<CardLock>>& cards) {
  for (const auto& card : cards) {
    card->spin_.lock(card->clock_);
    const SpinLockHolder holder(card->spin_);
    auto& known = card->neighbours_;
    for (auto& neighbour : known) {
      if (std::find(cards.begin(), cards.end(), neighbour.lock) != cards.end()) --neighbour.times;
    }
    known.erase(std::remove_if(known.begin(), known.end(),
                               [](const Neighbour& one) { return one.times == 0; }),
                known.end());
  }
}

// What becomes its neighbour does so under its lock.
bool CardLock::lock_alone() {
  mutex_->lock();
  {
    spin_.lock(clock_);
    const SpinLockHolder holder(spin_);
    if (neighbours_.empty()) return true;
  }
  mutex_->unlock();
  return false;
}

void CardLock::add_neighbours(std::vector<std::shared_ptr<CardLock>>& to) {
  spin_.lock(clock_);
  const SpinLockHolder holder(spin_);
  for (const auto& neighbour : neighbours_) to.push_back(neighbour.lock);
}

PagesLock::PagesLock(const std::vector<std::shared_ptr<CardLock>>& cards) {
  if (cards.size() == 1 && cards.front()->lock_alone()) {
    alone_ = cards.front();
    return;
  }
  const auto all = [&cards] {
    auto wanted = cards;
    for (const auto& card : cards) card->add_neighbours(wanted);
    std::sort(wanted.begin(), wanted.end(),
              [](const auto& a, const auto& b) { return a->number_ < b->number_; });
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return wanted;
  };
  for (held_ = all();;) {
    for (const auto& card : held_) card->mutex_->lock();
    // Some may have joined while this waited.
    auto now = all();
    if (now == held_) return;
    for (const auto& card : held_) card->mutex_->unlock();
    held_ = std::move(now);
  }
}

PagesLock::~PagesLock() {
  if (alone_) alone_->mutex_->unlock();
  for (const auto& card : held_) card->mutex_->unlock();
}

}  // namespace npu::driver
