// SPDX-License-Identifier: Apache-2.0
// Submitting to lanes and waiting for what was submitted.
#pragma once

#include "tests/attack/queues/right_entries.hpp"
#include "tests/attack/queues/wrong_entries.hpp"

namespace npu::attack {

class Submissions {
 public:
  explicit Submissions(QueueProcess& process)
      : process_(process),
        random_(process.random),
        world_(process.world),
        right_(process),
        wrong_(process) {}

  void submit_some(Lane& lane);
  // An entry that stops the queue, alone or among others.
  void submit_wrong(Lane& lane);
  // For one of the lane's tickets, with any policy and deadline.
  void wait_one(Lane& lane);
  // For everything of the lane, which must come to its end.
  void wait_all(Lane& lane);
  // Of a queue that has a wrong entry: the fault, and what it says.
  void look_for_fault(Lane& lane);
  // Faults that have come since; none but those of lanes with a wrong entry.
  void take_faults();
  // Records what nobody will record any more, for those that wait for it.
  void heal(Lane& lane);

 private:
  struct Batch {
    std::vector<abi::QueueEntry> entries;
    std::vector<RightEntry> right;  // what they do; of a wrong one: nothing
    bool barrier = false;
    int wrong = -1;
  };

  Batch compose(Lane& lane, std::size_t most, bool wrong);
  void send(Lane& lane, const Batch& batch);
  void note(Lane& lane, const Batch& batch, const driver::QueueTicket& ticket, bool completion,
            bool interrupt);
  Instant deadline_for(const Lane& lane);
  void judge(Lane& lane, const Awaited& awaited, const Status& status, bool may_time_out);
  void match(const driver::QueueFault& fault);

  QueueProcess& process_;
  fuzz::Random& random_;
  QueueWorld& world_;
  RightEntries right_;
  WrongEntries wrong_;
};

}  // namespace npu::attack
