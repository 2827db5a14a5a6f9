// SPDX-License-Identifier: Apache-2.0
// How full a queue is whose requests leave in any order, each at a clock known when it comes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/hbm/command.hpp"

namespace npu::model::hbm {

class WaitingRoom {
 public:
  explicit WaitingRoom(unsigned places) : leaving_(kClocks, 0), places_(places) {}

  // The first clock from `at` on with room. Clocks never go back.
  Clock admit(Clock at) {
    if (entered_ < places_ && at - now_ < kClocks / 2) return std::max(at, now_);
    pass(at);
    while (waiting_ >= places_) pass(next());
    entered_ = waiting_;
    return std::max(at, now_);
  }
  // So many come and leave at `leave`; later than the room can tell counts as the last clock it
  // can.
  void enter(unsigned count, Clock leave) {
    waiting_ += count;
    entered_ += count;
    const Clock at = std::clamp(leave, now_ + 1, now_ + kClocks - 1);
    auto& left = leaving_[static_cast<std::size_t>(at) % kClocks];
    left = static_cast<std::uint16_t>(left + count);
    some(at) |= std::uint64_t{1} << (at & 63);
    last_ = std::max(last_, at);
  }

 private:
  static constexpr Clock kClocks = 2048;
  std::uint64_t& some(Clock at) { return some_[static_cast<std::size_t>(at >> 6) % some_.size()]; }
  // The first clock from which on fewer wait than now; some wait.
  Clock next() {
    Clock at = now_ + 1;
    std::uint64_t here = some(at) & (~std::uint64_t{0} << (at & 63));
    while (here == 0) {
      at = (at | 63) + 1;
      here = some(at);
    }
    return (at & ~Clock{63}) + __builtin_ctzll(here);
  }
  void pass(Clock until) {
    const Clock end = std::min(until, last_);
    for (Clock at = now_ + 1; at <= end; at = (at | 63) + 1) {
      std::uint64_t& word = some(at);
      std::uint64_t here = word & (~std::uint64_t{0} << (at & 63));
      if (end < (at | 63)) here &= ~std::uint64_t{0} >> (63 - (end & 63));
      word &= ~here;
      for (; here != 0; here &= here - 1) {
        const Clock leave = (at & ~Clock{63}) + __builtin_ctzll(here);
        auto& left = leaving_[static_cast<std::size_t>(leave) % kClocks];
        waiting_ -= left;
        left = 0;
      }
    }
    now_ = std::max(now_, until);
  }

  std::vector<std::uint16_t> leaving_;              // how many, by clock
  std::array<std::uint64_t, kClocks / 64> some_{};  // a bit for each clock that any leave at
  unsigned places_;
  unsigned waiting_ = 0;  // at now_
  unsigned entered_ = 0;  // those, and all since: where these have room nobody counts
  Clock now_ = 0;
  Clock last_ = 0;  // the last one leaves
};

}  // namespace npu::model::hbm
