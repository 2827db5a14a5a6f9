// SPDX-License-Identifier: Apache-2.0
// Timeouts of requests that all wait equally long: a queue instead of one agenda entry each.
#pragma once

#include <cstdint>
#include <deque>

namespace npu::model {

class Deadlines {
 public:
  struct Entry {
    std::uint64_t when;
    std::uint64_t request;
  };
  // `when` never decreases from call to call. `is_waiting(request)` tells the finished ones.
  template <class IsWaiting>
  void push(std::uint64_t when, std::uint64_t request, IsWaiting is_waiting) {
    skip_finished(is_waiting);
    entries_.push_back({when, request});
  }
  // The oldest request still waiting; null: none.
  template <class IsWaiting>
  const Entry* oldest(IsWaiting is_waiting) {
    skip_finished(is_waiting);
    return entries_.empty() ? nullptr : &entries_.front();
  }
  void pop() { entries_.pop_front(); }

 private:
  template <class IsWaiting>
  void skip_finished(IsWaiting is_waiting) {
    while (!entries_.empty() && !is_waiting(entries_.front().request)) entries_.pop_front();
  }

  std::deque<Entry> entries_;
};

}  // namespace npu::model
