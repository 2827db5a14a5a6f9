// SPDX-License-Identifier: Apache-2.0
// The ids of requests' arrows. A queue that is made anew counts its entries anew, and so does the
// channel of page copies; viewers would join the arrow of an old entry that nobody waited for to
// the new one of that number.
#pragma once

#include <cstdint>
#include <map>

#include "tools/timeline/cause.hpp"

namespace npu::timeline {

class ArrowIds {
 public:
  // Of every submission: of the entry `last` and of `before` others with it. True: it begins a
  // queue, or a channel, that was there before.
  bool submitted(std::uint64_t last, std::uint64_t before) {
    const std::uint64_t index = cause_index(last);
    if (!counts_anew(last) || before + (is_page_copy_cause(last) ? 1 : 0) < index) return false;
    const auto [queue, is_new] = made_anew_.try_emplace(last - index, 0);
    if (!is_new) ++queue->second;
    return !is_new;
  }
  std::uint64_t of(std::uint64_t cause) const {
    if (!counts_anew(cause)) return cause;
    const auto queue = made_anew_.find(cause - cause_index(cause));
    return queue == made_anew_.end() ? cause : cause ^ ((queue->second % kTimes) << kIndexBits);
  }

 private:
  static constexpr bool counts_anew(std::uint64_t cause) {
    return is_queue_cause(cause) || is_page_copy_cause(cause);
  }
  // An entry's number has 40 bits, of which no run uses these.
  static constexpr unsigned kIndexBits = 28;
  static constexpr std::uint64_t kTimes = 4096;
  std::map<std::uint64_t, std::uint64_t> made_anew_;  // how often, by the cause without its index
};

}  // namespace npu::timeline
