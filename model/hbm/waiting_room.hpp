// SPDX-License-Identifier: Apache-2.0
// How full a queue is whose requests leave in any order, each at a clock known when it comes.
#pragma once

#include <algorithm>
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
    while (waiting_ >= places_) pass(now_ + 1);
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
    last_ = std::max(last_, at);
  }

 private:
  static constexpr Clock kClocks = 2048;
  void pass(Clock until) {
    if (until >= last_) {
      std::fill(leaving_.begin(), leaving_.end(), 0);
      waiting_ = 0;
      now_ = std::max(now_, until);
    }
    for (; now_ < until; ++now_) {
      auto& left = leaving_[static_cast<std::size_t>(now_ + 1) % kClocks];
      waiting_ -= left;
      left = 0;
    }
  }

  std::vector<std::uint16_t> leaving_;  // how many, by clock
  unsigned places_;
  unsigned waiting_ = 0;  // at now_
  unsigned entered_ = 0;  // those, and all since: where these have room nobody counts
  Clock now_ = 0;
  Clock last_ = 0;  // the last one leaves
};

}  // namespace npu::model::hbm
