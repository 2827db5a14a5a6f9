// SPDX-License-Identifier: Apache-2.0
// What was over when a signal got a value, for who has waited for it.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "machine/races/clock.hpp"
#include "npu/abi/queue_entry.hpp"

namespace npu::races {

class SignalHistory {
 public:
  void record(std::uint64_t value, const Clock& clock) {
    // A value that goes back: another owner, or a notify that is reset.
    if (!records_.empty() && value < records_.back().first) records_.clear();
    records_.emplace_back(value, clock);
    if (records_.size() > kMost) records_.pop_front();
  }
  // By the host, which says no value.
  void release(const Clock& clock) { host_.join(clock); }
  // What a wait has learnt. Of several records of one value it is open which it was: all.
  void wait(abi::WaitCondition condition, std::uint64_t value, Clock& clock) const {
    clock.join(host_);
    const auto met = [&](std::uint64_t found) {
      if (condition == abi::WaitCondition::kEqual) return found == value;
      if (condition == abi::WaitCondition::kNotEqual) return found != value;
      return static_cast<std::int64_t>(found - value) >= 0;
    };
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (!met(records_[i].first)) continue;
      const auto first = records_[i].first;
      for (; i < records_.size() && records_[i].first == first; ++i) clock.join(records_[i].second);
      return;
    }
  }

 private:
  static constexpr std::size_t kMost = 1024;

  std::deque<std::pair<std::uint64_t, Clock>> records_;
  Clock host_;
};

}  // namespace npu::races
