// SPDX-License-Identifier: Apache-2.0
// The queues of all cards: what is over for each, and by which submission its entries came.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "apps/exec/races/clock.hpp"

namespace npu::exec::races {

class QueueOrder {
 public:
  // Entries up to `index` that nobody has claimed yet are of the submission. They have not ended
  // yet, as far as ended() was called.
  void claim(std::uint32_t device, std::uint32_t queue, std::uint64_t index,
             std::uint32_t submission);
  struct Entry {
    Clock& clock;  // of the queue: as it was behind the entry before
    std::optional<std::uint32_t> submission;
  };
  // The entry has ended. Entry 0 is that of a new queue, which may have an earlier one's number.
  Entry ended(std::uint32_t device, std::uint32_t queue, std::uint64_t index);
  // Afterwards: what is over with the entry is what its queue's clock says now.
  void keep(std::uint32_t device, std::uint32_t queue, std::uint64_t index);
  // What is over with the entry; null: nobody knows any more.
  const Clock* known(std::uint32_t device, std::uint32_t queue, std::uint64_t index) const;
  // The clock with that number; null: there is none any more.
  const Clock* now(std::uint32_t who) const;

 private:
  struct Claim {
    std::uint64_t last = 0;
    std::uint32_t submission = 0;
    bool later = false;  // the first one of a later queue with the number
  };
  struct Queue {
    Clock clock;
    bool begun = false;
    std::uint64_t ended = 0;  // the last one, if it has begun
    std::deque<Claim> claims;
    std::deque<std::pair<std::uint64_t, Clock>> kept;
  };
  static std::uint64_t key(std::uint32_t device, std::uint32_t queue) {
    return std::uint64_t{device} << 32 | queue;
  }
  void begin(Queue& queue);

  std::uint32_t numbers_ = kHost;  // of clocks, given so far
  std::map<std::uint64_t, Queue> queues_;
};

}  // namespace npu::exec::races
