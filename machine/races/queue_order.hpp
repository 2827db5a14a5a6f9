// SPDX-License-Identifier: Apache-2.0
// The queues of all cards: what is over for each, and by which submission its entries came.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "machine/races/clock.hpp"
#include "npu/base/units.hpp"

namespace npu::races {

class QueueOrder {
 public:
  // A queue as a card numbers them: numbers are given again when queues have gone.
  struct Name {
    std::uint32_t device = 0, queue = 0;
  };
  // One of all that there ever were.
  using Number = std::size_t;
  struct Entry {
    Number queue = 0;
    std::uint64_t index = 0;
  };

  // From now on the name is another queue's.
  void created(const Name& name, Instant now);
  // Whose the name was at that time, of those that there have been.
  Number at(const Name& name, Instant when);

  // Entries of the queue up to this one that nobody has claimed yet are of the submission.
  void claim(const Entry& last, std::uint32_t submission) {
    queues_[last.queue].claims[last.index] = submission;
  }
  // By which submission the entry came.
  std::optional<std::uint32_t> submission_of(const Entry& entry) const;
  // Of the queue: what is over behind the last entry that has ended.
  Clock& clock(Number queue) { return queues_[queue].clock; }
  // The entry has ended, and the clock says what is over now.
  void keep(const Entry& entry);
  // What is over with an entry; null: it has not ended, or ended long ago.
  const Clock* known(const Entry& entry) const;

 private:
  struct Queue {
    Clock clock;
    std::map<std::uint64_t, std::uint32_t> claims;  // by the last index
    std::deque<std::pair<std::uint64_t, Clock>> kept;
  };

  std::deque<Queue> queues_;
  std::map<std::uint64_t, std::vector<std::pair<Instant, Number>>> names_;  // by time
};

}  // namespace npu::races
