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
  explicit WaitingRoom(unsigned places) : places_(places) {}

  // The first clock from `at` on with room. Clocks never go back.
  Clock admit(Clock at) {
    if (entered_ < places_ && at - now_ < kClocks / 2) return std::max(at, now_);
    pass(at);
    while (waiting_ >= places_) pass(leaving_.front().at);
    entered_ = waiting_;
    return std::max(at, now_);
  }
  // So many come and leave at `leave`; later than the room can tell counts as the last clock it
  // can.
  void enter(unsigned count, Clock leave) {
    waiting_ += count;
    entered_ += count;
    const Clock at = std::clamp(leave, now_ + 1, now_ + kClocks - 1);
    // Most leave behind all others, or almost.
    leaving_.push_back({at, count});
    for (std::size_t i = leaving_.size() - 1; i > 0 && leaving_[i - 1].at > at; --i) {
      std::swap(leaving_[i], leaving_[i - 1]);
    }
  }

 private:
  static constexpr Clock kClocks = 2048;
  struct Leaving {
    Clock at;
    unsigned count;
  };

  void pass(Clock until) {
    auto left = leaving_.begin();
    for (; left != leaving_.end() && left->at <= until; ++left) waiting_ -= left->count;
    leaving_.erase(leaving_.begin(), left);
    now_ = std::max(now_, until);
  }

  std::vector<Leaving> leaving_;  // in the order of their clocks
  unsigned places_;
  unsigned waiting_ = 0;  // at now_
  unsigned entered_ = 0;  // those, and all since: where these have room nobody counts
  Clock now_ = 0;
};

}  // namespace npu::model::hbm
