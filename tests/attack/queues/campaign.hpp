// SPDX-License-Identifier: Apache-2.0
// The whole attack: rounds of processes on a card, some of which are stopped from outside, and
// what must be left of each: nothing.
#pragma once

#include <memory>
#include <vector>

#include "tests/attack/queues/disturber.hpp"
#include "tests/attack/queues/owner.hpp"

namespace npu::attack {

class Campaign {
 public:
  Campaign(platform::Platform& host, std::uint64_t seed) : world_(host, seed), random_(seed) {}

  void run();
  const QueueWorld& world() const { return world_; }

 private:
  void open_card();
  void round(bool stop);
  void open_processes();
  void let_loose(bool stop);
  void stop_card();
  void reset_ring_now_and_then(const bool& over);
  void close_processes();
  void expect_nothing_left();

  QueueWorld world_;
  fuzz::Random random_;
  Bytes used_ = 0;  // before the first process of a round
  std::vector<std::unique_ptr<QueueProcess>> processes_;
  std::vector<std::unique_ptr<QueueOwner>> owners_;
};

}  // namespace npu::attack
