// SPDX-License-Identifier: Apache-2.0
// Entries that a queue must execute, and what they do.
#pragma once

#include "tests/attack/queues/process.hpp"

namespace npu::attack {

struct RightEntry {
  abi::QueueEntry entry;
  Operation operation;
  Outcome outcome = Outcome::kDone;
  std::uint32_t touches = 0;  // cells
  std::uint64_t records = 0;  // this value of the lane's signal; 0: none
  int stamp = -1;
};

class RightEntries {
 public:
  explicit RightEntries(QueueProcess& process) : process_(process) {}

  // `recorded`: the highest value of the lane's signal that an entry before it records.
  RightEntry any(Lane& lane, std::uint64_t recorded);

 private:
  RightEntry fill(Lane& lane);
  RightEntry add(Lane& lane);
  RightEntry copy(Lane& lane);
  RightEntry wait(Lane& lane);
  RightEntry late_wait(Lane& lane);
  RightEntry stamp(Lane& lane);
  RightEntry prefetch(Lane& lane);

  QueueProcess& process_;
};

}  // namespace npu::attack
