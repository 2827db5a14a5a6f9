// SPDX-License-Identifier: Apache-2.0
#include "model/command/scheduler.hpp"

#include <algorithm>

#include "model/command/dispatcher.hpp"

namespace npu::model {

using State = QueueSlot::State;

Scheduler::Scheduler(CommandShared& shared, Listener& listener)
    : shared_(shared), listener_(listener) {
  for (unsigned i = 0; i < shared.config.command.slots; ++i) {
    slots_.push_back(std::make_unique<QueueSlot>(shared, i));
  }
}

void Scheduler::consider(HardwareQueue& queue) {
  if (queue.slot != nullptr) return queue.slot->work_added();
  if (queue.ready || !queue.runnable()) return;
  queue.ready = true;
  ready_[queue.mqd.priority].push_back(&queue);
  ++waiting_;
  schedule();
}

void Scheduler::withdraw(HardwareQueue& queue) {
  if (!queue.ready) return;
  for (auto& list : ready_) {
    const auto it = std::find(list.begin(), list.end(), &queue);
    if (it == list.end()) continue;
    list.erase(it);
    break;
  }
  queue.ready = false;
  --waiting_;
}

void Scheduler::slot_changed() {
  schedule();
}

void Scheduler::queue_out(HardwareQueue& queue) {
  consider(queue);
  listener_.queue_unloaded();  // may remove it
  schedule();
}

void Scheduler::write_state(HardwareQueue& queue) {
  ++queue.writes;
  queue.mqd.write_index = queue.write_index();
  shared_.memory.write<&Scheduler::state_written>(
      shared_.function(queue).local(queue.address + abi::kQueueStateOffset),
      reinterpret_cast<const unsigned char*>(&queue.mqd) + abi::kQueueStateOffset,
      abi::kQueueDescriptorSize - abi::kQueueStateOffset, 0, *this, shared_.name_of(queue));
}

void Scheduler::state_written(const Answer&, std::uint64_t name) {
  --shared_.queue_of(name)->writes;
  listener_.queue_unloaded();
}

QueueSlot* Scheduler::free_slot() const {
  for (const auto& slot : slots_) {
    if (slot->state() == State::kFree) return slot.get();
  }
  return nullptr;
}

SimTime Scheduler::quantum_end(const QueueSlot& slot) const {
  const auto& mqd = slot.queue()->mqd;
  const std::uint64_t quantum = mqd.quantum_us != 0 ? std::uint64_t{mqd.quantum_us} * 1'000'000
                                                    : ticks(shared_.config.command.quantum);
  return slot.loaded_at() + quantum * mqd.percentage / 100;
}

// The slot that a queue of `priority` may have; null: none, yet.
QueueSlot* Scheduler::victim(std::uint8_t priority) const {
  QueueSlot *idle = nullptr, *parked = nullptr, *lower = nullptr, *expired = nullptr;
  const auto older = [](QueueSlot* a, QueueSlot* b, SimTime (QueueSlot::*since)() const) {
    return a == nullptr || (b->*since)() < (a->*since)() ? b : a;
  };
  for (const auto& owned : slots_) {
    auto* slot = owned.get();
    if (slot->state() != State::kActive) continue;
    if (slot->idle()) {
      idle = older(idle, slot, &QueueSlot::idle_since);
    } else if (slot->parked()) {
      parked = older(parked, slot, &QueueSlot::loaded_at);
    } else if (slot->priority() < priority) {
      if (lower == nullptr || slot->priority() < lower->priority()) lower = slot;
    } else if (slot->priority() == priority && quantum_end(*slot) <= sim_now()) {
      expired = older(expired, slot, &QueueSlot::loaded_at);
    }
  }
  if (idle != nullptr) return idle;
  if (parked != nullptr) return parked;
  return lower != nullptr ? lower : expired;
}

// Slots that are being given up already are for the first ones that wait. But not for longer than a
// quantum: what cannot be preempted may run for ever.
unsigned Scheduler::coming() {
  unsigned count = 0;
  SimTime timeout = UINT64_MAX;
  for (const auto& slot : slots_) {
    if (slot->state() == State::kUnloading) ++count;
    if (slot->state() != State::kLeaving) continue;
    const SimTime until = slot->leaving_since() + ticks(shared_.config.command.quantum);
    if (until <= sim_now()) continue;
    ++count;
    timeout = std::min(timeout, until);
  }
  arm(timeout);
  return count;
}

void Scheduler::schedule() {
  if (waiting_ == 0) return;
  unsigned coming = this->coming();
  for (std::size_t p = ready_.size(); p-- > 0;) {
    auto& list = ready_[p];
    for (std::size_t i = 0; i < list.size();) {
      if (auto* slot = i == 0 ? free_slot() : nullptr) {
        auto& queue = *list.front();
        list.pop_front();
        queue.ready = false;
        --waiting_;
        slot->load(queue);
        continue;
      }
      if (coming > 0) {
        --coming;
        ++i;
        continue;
      }
      auto* slot = victim(static_cast<std::uint8_t>(p));
      if (slot == nullptr) return arm(next_quantum_end(static_cast<std::uint8_t>(p)));
      slot->leave(QueueSlot::Leave::kDrain);
      ++i;
    }
  }
}

// The next time at which a queue of `priority` may take a slot from an equal one.
SimTime Scheduler::next_quantum_end(std::uint8_t priority) const {
  SimTime next = UINT64_MAX;
  for (const auto& slot : slots_) {
    if (slot->state() == State::kActive && slot->priority() == priority) {
      next = std::min(next, quantum_end(*slot));
    }
  }
  return next;
}

void Scheduler::arm(SimTime when) {
  if (when >= timer_at_) return;
  timer_at_ = when;
  shared_.sim.agenda.at<&Scheduler::timer>(std::max(when, sim_now()), *this, when);
}

void Scheduler::timer(std::uint64_t when) {
  if (when != timer_at_) return;  // an earlier one was armed since
  timer_at_ = UINT64_MAX;
  schedule();
}

void Scheduler::reset(unsigned function) {
  for (auto& slot : slots_) {
    if (slot->queue() == nullptr || slot->function().number != function) continue;
    shared_.dispatcher->cancel(*slot);
    shared_.commands.for_each_of(*slot,
                                 [this](QueueCommand& command) { shared_.commands.free(command); });
    slot->reset();
  }
  shared_.functions[function]->table.for_each([this](HardwareQueue& queue) {
    withdraw(queue);
    shared_.forget_kernel(queue);
  });
  if (waiting_ == 0) timer_at_ = UINT64_MAX;
  schedule();
}

}  // namespace npu::model
