// SPDX-License-Identifier: Apache-2.0
#include "model/host/interrupts.hpp"

namespace npu::model {

Interrupts::Interrupts(Simulation& simulation, HostCpus& cpus)
    : simulation_(simulation), cpus_(cpus), track_(simulation.recorder.track("host.interrupts")) {}

std::shared_ptr<VectorState> Interrupts::open(std::uint32_t requester, unsigned vector) {
  auto& slot = open_[{requester, vector}];
  if (slot) return nullptr;
  slot = std::make_shared<VectorState>();
  slot->data = next_data_++;
  const unsigned cores = cpus_.config().cores;
  slot->core = cores - 1 - opened_++ % cores;
  by_data_[{requester, slot->data}] = slot.get();
  return slot;
}

void Interrupts::close(std::uint32_t requester, unsigned vector) {
  const auto it = open_.find({requester, vector});
  sc_assert(it != open_.end());
  by_data_.erase({requester, it->second->data});
  open_.erase(it);
}

void Interrupts::message(std::uint32_t requester, std::uint64_t address, std::uint32_t data,
                         std::uint64_t cause) {
  static_cast<void>(address);
  const auto it = by_data_.find({requester, data});
  if (it == by_data_.end()) {
    ++spurious_;
    return;
  }
  ++taken_;
  simulation_.emit(track_, platform::Activity::kInterrupt, sim_now(), sim_now(), cause, 0, data);
  auto& vector = *it->second;
  auto& weakest = simulation_.weakest;
  // A vector has one bit: what comes before its handler has run is seen by that.
  if (weakest && vector.coming != 0 && weakest->half()) return;
  const Message message{requester, data, vector.core, sim_now(), cause};
  const SimTime late = weakest ? weakest->late(kLate) : 0;
  serve(message, cpus_.interrupt(vector.core) + late);
  if (weakest && weakest->one_in(kDoubled)) {
    serve(message, cpus_.interrupt(vector.core) + weakest->late(kLate));
  }
}

void Interrupts::serve(const Message& message, SimTime end) {
  if (free_messages_.empty()) {
    free_messages_.push_back(messages_.size());
    messages_.emplace_back();
  }
  const auto number = free_messages_.back();
  free_messages_.pop_back();
  messages_[number] = message;
  ++by_data_.at({message.requester, message.data})->coming;
  if (end == sim_now()) return handled(number);
  simulation_.agenda.at<&Interrupts::handled>(end, *this, number);
}

// The vector may have been closed since.
void Interrupts::handled(std::uint64_t number) {
  const Message message = messages_[number];
  free_messages_.push_back(number);
  cpus_.trace_interrupt(message.core, message.cause);
  const auto it = by_data_.find({message.requester, message.data});
  if (it == by_data_.end()) return;
  auto& vector = *it->second;
  if (vector.coming != 0) --vector.coming;
  ++vector.count;
  vector.last_arrival = message.arrival;
  vector.last_cause = message.cause;
  if (vector.handler) vector.handler();
  simulation_.agenda.notify(vector.arrived);
}

}  // namespace npu::model
