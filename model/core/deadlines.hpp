// SPDX-License-Identifier: Apache-2.0
// Timeouts of requests that all wait equally long: a queue with one agenda entry instead of one
// entry each.
#pragma once

#include <cstdint>
#include <deque>

#include "model/core/simulation.hpp"

namespace npu::model {

// Of requests that `Owner` knows by number: bool is_waiting(number) const tells the finished ones,
// void timed_out(number) ends one.
template <class Owner>
class Deadlines : private Timeout {
 public:
  Deadlines(Simulation& simulation, Owner& owner, Picoseconds limit)
      : simulation_(simulation), owner_(owner), limit_(ticks(limit)) {
    simulation.agenda.add(*this);
  }
  // It waits from now on.
  void start(std::uint64_t request) {
    skip_finished();
    entries_.push_back({sim_now() + limit_, request});
    watch();
  }

 private:
  struct Entry {
    SimTime when;
    std::uint64_t request;
  };
  void skip_finished() {
    while (!entries_.empty() && !owner_.is_waiting(entries_.front().request)) entries_.pop_front();
  }
  void watch() {
    if (watching_) return;
    skip_finished();
    if (entries_.empty()) return;
    watching_ = true;
    simulation_.agenda.at<&Deadlines::due>(entries_.front().when, *this);
  }
  void due(std::uint64_t) {
    watching_ = false;
    for (skip_finished(); !entries_.empty() && entries_.front().when <= sim_now();
         skip_finished()) {
      const std::uint64_t request = entries_.front().request;
      entries_.pop_front();
      owner_.timed_out(request);
    }
    watch();
  }
  bool is_void() override {
    skip_finished();
    return watching_ && entries_.empty();
  }

  Simulation& simulation_;
  Owner& owner_;
  const SimTime limit_;
  std::deque<Entry> entries_;
  bool watching_ = false;
};

}  // namespace npu::model
