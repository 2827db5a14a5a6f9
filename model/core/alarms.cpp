// SPDX-License-Identifier: Apache-2.0
#include "model/core/alarms.hpp"

#include <algorithm>

namespace npu::model {
namespace {

constexpr std::uint64_t kFirstStep = 20'000'000;  // ps

}  // namespace

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
  sensitive << due_;
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

void Alarms::disarm() {
  due_.cancel();
  armed_for_ = UINT64_MAX;
}

void Alarms::arm() {
  if (first() >= armed_for_) return;
  armed_for_ = first();
  stride_ = kFirstStep;
  arm_some_way(sc_core::sc_time_stamp().value());
}

// By steps, so that what is cancelled for a nearer limit is not far away either.
void Alarms::arm_some_way(std::uint64_t now) {
  due_.notify(sc_core::sc_time::from_value(std::min(stride_, armed_for_ - now)));
  stride_ *= 2;
}

void Alarms::ring() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  while (first() <= now) {
    Wait& wait = **waits_.begin();
    waits_.erase(waits_.begin());
    wait.rung = true;
    wait.over->notify();
  }
  if (first() != armed_for_) stride_ = kFirstStep;
  armed_for_ = first();
  if (armed_for_ != UINT64_MAX) arm_some_way(now);
}

}  // namespace npu::model
