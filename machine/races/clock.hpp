// SPDX-License-Identifier: Apache-2.0
// What has happened before what: vector clocks over the queues of all cards and the host. A queue
// counts its entries from 1 on; the host, which is number 0, counts what it does. A clock says how
// much of each is known to be over. Clocks are small to copy: what queues know of others is shared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace npu::races {

inline constexpr std::uint32_t kHost = 0;

// The n-th thing that a queue or the host does.
struct Moment {
  std::uint32_t who = 0;
  std::uint32_t number = 0;
};

class Clock {
 public:
  explicit Clock(std::uint32_t own = kHost) : own_(own) {}

  std::uint32_t own() const { return own_; }
  bool covers(const Moment& moment) const { return count(moment.who) >= moment.number; }
  std::uint32_t count(std::uint32_t who) const {
    if (who == own_) return number_;
    return others_ && who < others_->size() ? (*others_)[who] : 0;
  }
  // The next thing that it does itself.
  Moment happens() { return {own_, ++number_}; }
  // What either knows.
  void join(const Clock& other) {
    if (others_ != other.others_ && other.others_ && !knows_all(*other.others_)) {
      auto all = copy(other.others_->size());
      for (std::size_t i = 0; i < other.others_->size(); ++i) {
        (*all)[i] = std::max((*all)[i], (*other.others_)[i]);
      }
      number_ = std::max(number_, own_ < all->size() ? (*all)[own_] : 0U);
      others_ = std::move(all);
    }
    if (covers({other.own_, other.number_})) return;
    if (other.own_ == own_) return static_cast<void>(number_ = other.number_);
    auto all = copy(other.own_ + 1);
    (*all)[other.own_] = other.number_;
    others_ = std::move(all);
  }

 private:
  using Counts = std::vector<std::uint32_t>;

  bool knows_all(const Counts& counts) const {
    for (std::uint32_t i = 0; i < counts.size(); ++i) {
      if (count(i) < counts[i]) return false;
    }
    return true;
  }
  std::shared_ptr<Counts> copy(std::size_t size) const {
    auto all = others_ ? std::make_shared<Counts>(*others_) : std::make_shared<Counts>();
    if (all->size() < size) all->resize(size);
    return all;
  }

  std::uint32_t own_;
  std::uint32_t number_ = 0;
  std::shared_ptr<const Counts> others_;
};

}  // namespace npu::races
