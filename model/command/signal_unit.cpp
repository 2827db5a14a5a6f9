// SPDX-License-Identifier: Apache-2.0
#include "model/command/signal_unit.hpp"

#include <algorithm>

#include "model/command/queue_slot.hpp"
#include "model/command/scheduler.hpp"

namespace npu::model {

bool SignalUnit::met(const HeadWait& wait, std::uint64_t value) {
  switch (static_cast<abi::WaitCondition>(wait.payload.condition)) {
    case abi::WaitCondition::kReached:
      return static_cast<std::int64_t>(value - wait.payload.value) >= 0;
    case abi::WaitCondition::kEqual:
      return value == wait.payload.value;
    case abi::WaitCondition::kNotEqual:
      return value != wait.payload.value;
  }
  return true;
}

void SignalUnit::park(HardwareQueue& queue) {
  auto& wait = queue.wait;
  wait.active = true;
  queue.process->waiting.push_back(&queue);
  if (wait.deadline != UINT64_MAX && wait.deadline != wait.armed) {
    wait.armed = wait.deadline;
    shared_.sim.agenda.at<&SignalUnit::expired>(wait.deadline, *this, shared_.name_of(queue));
  }
  shared_.scheduler->slot_changed();
}

void SignalUnit::unpark(HardwareQueue& queue) {
  queue.wait.active = false;
  auto& waiting = queue.process->waiting;
  waiting.erase(std::remove(waiting.begin(), waiting.end(), &queue), waiting.end());
}

// The queue has given its slot away: it reads its signal again when it has one.
void SignalUnit::wake_unloaded(HardwareQueue& queue) {
  unpark(queue);
  shared_.scheduler->consider(queue);
}

void SignalUnit::written(Process& process, const Place& place, std::uint64_t value) {
  ++process.signals;
  told_.assign(process.waiting.begin(), process.waiting.end());
  for (auto* queue : told_) {
    if (!(queue->wait.place == place)) continue;
    if (queue->slot != nullptr && queue->slot->waits()) {
      queue->slot->signal_value(value);
    } else if (met(queue->wait, value)) {
      wake_unloaded(*queue);
    }
  }
}

void SignalUnit::doorbell(Process& process, std::uint64_t slot) {
  ++process.signals;
  told_.assign(process.waiting.begin(), process.waiting.end());
  for (auto* queue : told_) {
    if (queue->wait.payload.slot != slot || queue->wait.in_memory) continue;
    look_again(*queue);
  }
}

void SignalUnit::look_again(HardwareQueue& queue) {
  if (queue.slot != nullptr && queue.slot->waits()) {
    queue.slot->read_signal();
  } else {
    wake_unloaded(queue);
  }
}

// Of this wait, or of an earlier one of the queue, or of another queue of the same id: the wait's
// own deadline decides.
void SignalUnit::expired(std::uint64_t name) {
  auto* queue = shared_.queue_of(name);
  if (queue == nullptr || !queue->wait.active || sim_now() < queue->wait.deadline) return;
  if (queue->slot != nullptr && queue->slot->waits()) {
    queue->slot->wait_expired();
  } else {
    wake_unloaded(*queue);
  }
}

}  // namespace npu::model
