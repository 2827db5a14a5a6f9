// SPDX-License-Identifier: Apache-2.0
#include "model/core/alarms.hpp"

namespace npu::model {

class Alarms::Entry {
 public:
  Entry(Alarms& alarms, std::uint64_t limit)
      : alarms_(alarms), wait_{limit, alarms.number_++, alarms.free_.back()} {
    alarms.free_.pop_back();
    alarms.waits_.insert(&wait_);
    alarms.arm();
  }
  ~Entry() {
    if (!wait_.rung) alarms_.waits_.erase(&wait_);
    alarms_.free_.push_back(wait_.over);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const sc_core::sc_event& over() const { return *wait_.over; }

 private:
  Alarms& alarms_;
  Wait wait_;
};

Alarms::Alarms(const sc_core::sc_module_name& name) : sc_module(name) {
  SC_METHOD(ring);
  sensitive << due_.event();
  dont_initialize();
}

void Alarms::wait(const sc_core::sc_event& event, std::uint64_t limit) {
  if (free_.empty()) {
    events_.push_back(std::make_unique<sc_core::sc_event>());
    free_.push_back(events_.back().get());
  }
  const Entry entry(*this, limit);
  sc_core::wait(event | entry.over());
}

void Alarms::arm() {
  due_.arm(first(), sc_core::sc_time_stamp().value());
}

void Alarms::ring() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  if (!due_.arrived(now)) return;
  while (first() <= now) {
    Wait& wait = **waits_.begin();
    waits_.erase(waits_.begin());
    wait.rung = true;
    wait.over->notify();
  }
  arm();
}

}  // namespace npu::model
