// SPDX-License-Identifier: Apache-2.0
// The handlers of an agenda: by their times, those of one time in the order in which they came.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/core/far_handlers.hpp"

namespace npu::model {

class HandlerQueue {
 public:
  using Call = void (*)(void* object, std::uint64_t argument);
  struct Handler {
    void* object;
    std::uint64_t argument;
    Call call;
  };

  std::size_t size() const { return near_count_ + far_.size(); }
  bool empty() const { return near_count_ == 0; }
  // The time of the first one, in ps; UINT64_MAX: there is none, or one that never comes.
  std::uint64_t first() const { return near_[near_count_].when; }
  // All that there have been.
  std::uint64_t pushed() const { return next_sequence_; }

  void push(std::uint64_t when, const Handler& handler) {
    const std::uint64_t place = free_ != kNone ? free_ : grow();
    free_ = handlers_[place].argument;
    handlers_[place] = handler;
    const Entry entry{when, next_sequence_++ << kPlaceBits | place};
    if (near_count_ != kNear && far_.empty()) {
      insert_near(entry);
    } else {
      insert(entry);
    }
  }

  // There is one.
  Handler take() {
    const std::uint64_t place = near_[near_count_].order & kPlaceMask;
    const Handler handler = handlers_[place];
    handlers_[place].argument = free_;
    free_ = place;
    if (--near_count_ == 0 && !far_.empty()) refill();
    return handler;
  }

 private:
  // In `order` below the sequence number: the handler's place in handlers_.
  using Entry = HandlerEntry;
  static constexpr unsigned kPlaceBits = 20;
  static constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
  static constexpr std::uint64_t kNone = UINT64_MAX;

  // Sorted, the first one last: most of what is pushed comes soon and finds its place in few steps.
  // Nothing is behind it at its own time, as it was pushed last.
  void insert_near(const Entry& entry) {
    Entry* const begin = &near_[1];
    Entry* hole = &near_[++near_count_];
    for (; hole != begin && hole[-1].when <= entry.when; --hole) *hole = hole[-1];
    *hole = entry;
  }
  void insert(const Entry& entry);
  void refill();
  std::uint64_t grow();

  // The first few, from place 1 on, sorted, the first one last; and all behind them. Far ones only
  // if there are near ones. Place 0 stands for none.
  static constexpr std::size_t kNear = 32;
  std::array<Entry, kNear + 1> near_{{{UINT64_MAX, UINT64_MAX}}};
  std::size_t near_count_ = 0;
  FarHandlers far_;
  std::vector<Handler> handlers_;
  std::uint64_t free_ = kNone;  // place in handlers_; their `argument` is the next one
  std::uint64_t next_sequence_ = 0;
};

}  // namespace npu::model
