// SPDX-License-Identifier: Apache-2.0
#include "model/core/agenda.hpp"

#include <algorithm>

namespace npu::model {

Agenda::Agenda(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_METHOD(run);
  sensitive << wake_;
  dont_initialize();
}

void Agenda::schedule(SimTime when, Entry entry) {
  sc_assert(when >= sim_now());
  entry.sequence = next_sequence_++;
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), later);
  if (!running_) arm();
}

void Agenda::run() {
  armed_for_ = UINT64_MAX;
  running_ = true;
  const SimTime now = sim_now();
  while (!heap_.empty() && heap_.front().when <= now) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    entry.call(entry.object, entry.argument);
  }
  running_ = false;
  arm();
}

void Agenda::arm() {
  if (heap_.empty() || heap_.front().when >= armed_for_) return;
  armed_for_ = heap_.front().when;
  wake_.notify(sc_core::sc_time::from_value(armed_for_ - sim_now()));
}

}  // namespace npu::model
