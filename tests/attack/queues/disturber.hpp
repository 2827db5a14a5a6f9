// SPDX-License-Identifier: Apache-2.0
// A second task of a process: it holds queues for short times, changes and asks them, makes and
// destroys queues of its own, and moves the memory of all, while the first one works.
#pragma once

#include "tests/attack/queues/process.hpp"

namespace npu::attack {

class Disturber {
 public:
  Disturber(QueueProcess& process, std::uint64_t seed)
      : process_(process), world_(process.world), random_(seed) {}

  // Until `over` says so.
  void run(const bool& over);

 private:
  void hold();
  void disable();
  void evict();
  void ask();
  void come_and_go();
  void compact();
  void pause();
  std::vector<driver::QueueId> some_ids();
  void release(const std::vector<driver::QueueId>& ids);

  QueueProcess& process_;
  QueueWorld& world_;
  fuzz::Random random_;
};

}  // namespace npu::attack
