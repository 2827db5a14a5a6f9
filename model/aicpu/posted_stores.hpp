// SPDX-License-Identifier: Apache-2.0
// Stores that have left a core and are not done yet, at most so many.
#pragma once

#include <algorithm>
#include <vector>

#include "model/core/agenda.hpp"

namespace npu::model {

class PostedStores {
 public:
  PostedStores(unsigned entries, SimTime until_done) : done_(entries), until_done_(until_done) {}

  // When a store that is to leave at `now` finds an entry; it is taken from then on.
  SimTime post(SimTime now) {
    const SimTime issued = std::max(now, done_[next_]);
    done_[next_] = last_ = issued + until_done_;
    next_ = (next_ + 1) % done_.size();
    return issued;
  }
  // The last one leaves at `now` only.
  void postpone(SimTime now) {
    done_[(next_ + done_.size() - 1) % done_.size()] = last_ = now + until_done_;
  }
  // The last one is not done before `when`.
  SimTime delay(SimTime when) {
    SimTime& done = done_[(next_ + done_.size() - 1) % done_.size()];
    done = std::max(done, when);
    delayed_ = std::max(delayed_, done);
    return done;
  }
  SimTime all_done() const { return std::max(last_, delayed_); }
  void reset() {
    std::fill(done_.begin(), done_.end(), 0);
    last_ = delayed_ = 0;
  }

 private:
  std::vector<SimTime> done_;  // of the last stores, oldest next
  const SimTime until_done_;
  std::size_t next_ = 0;
  SimTime last_ = 0, delayed_ = 0;
};

}  // namespace npu::model
