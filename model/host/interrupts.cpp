// SPDX-License-Identifier: Apache-2.0
#include "model/host/interrupts.hpp"

namespace npu::model {

Interrupts::Interrupts(Simulation& simulation)
    : simulation_(simulation), track_(simulation.recorder.track("host.interrupts")) {}

std::shared_ptr<VectorState> Interrupts::open(std::uint16_t requester, unsigned vector) {
  auto& slot = open_[{requester, vector}];
  if (slot) return nullptr;
  slot = std::make_shared<VectorState>();
  slot->data = next_data_++;
  by_data_[{requester, slot->data}] = slot.get();
  return slot;
}

void Interrupts::close(std::uint16_t requester, unsigned vector) {
  const auto it = open_.find({requester, vector});
  sc_assert(it != open_.end());
  by_data_.erase({requester, it->second->data});
  open_.erase(it);
}

void Interrupts::message(std::uint16_t requester, std::uint64_t address, std::uint32_t data,
                         std::uint64_t cause) {
  static_cast<void>(address);
  const auto it = by_data_.find({requester, data});
  if (it == by_data_.end()) {
    ++spurious_;
    return;
  }
  auto& vector = *it->second;
  ++vector.count;
  ++taken_;
  vector.last_arrival = sim_now();
  vector.last_cause = cause;
  simulation_.emit(track_, platform::Activity::kInterrupt, sim_now(), sim_now(), cause, 0, data);
  if (vector.handler) vector.handler();
  simulation_.agenda.notify(vector.arrived);
}

}  // namespace npu::model
