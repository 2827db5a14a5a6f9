// SPDX-License-Identifier: Apache-2.0
// Which queues are in the slots (docs/compute-queues.md, "Scheduling").
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "model/command/queue_slot.hpp"

namespace npu::model {

class Scheduler {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // The queue may be out() now.
    virtual void queue_unloaded() = 0;
  };

  Scheduler(CommandShared& shared, Listener& listener);

  // The queue may have become runnable, or is in a slot and has more work.
  void consider(HardwareQueue& queue);
  // The queue is not to be loaded any more.
  void withdraw(HardwareQueue& queue);
  // A slot has become idle, parked or loaded.
  void slot_changed();
  void queue_out(HardwareQueue& queue);
  // The card's half of the descriptor of a queue that is in no slot.
  void write_state(HardwareQueue& queue);
  // The function's queues are in no slot and wait for none; what they had begun is forgotten.
  void reset(unsigned function);

 private:
  using RunList =
      std::deque<HardwareQueue*>;  // of one priority, the one that has waited longest first

  void schedule();
  void state_written(const Answer& answer, std::uint64_t name);
  QueueSlot* free_slot() const;
  QueueSlot* victim(std::uint8_t priority) const;
  SimTime quantum_end(const QueueSlot& slot) const;
  unsigned coming();
  SimTime next_quantum_end(std::uint8_t priority) const;
  void arm(SimTime when);
  void timer(std::uint64_t when);

  CommandShared& shared_;
  Listener& listener_;
  std::vector<std::unique_ptr<QueueSlot>> slots_;
  std::array<RunList, abi::kMaxQueuePriority + 1> ready_;
  unsigned waiting_ = 0;  // queues in ready_
  SimTime timer_at_ = UINT64_MAX;
};

}  // namespace npu::model
