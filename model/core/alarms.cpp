// SPDX-License-Identifier: Apache-2.0
#include "model/core/alarms.hpp"

#include <algorithm>
#include <utility>

namespace npu::model {

namespace {

// A look may set something going, but not so many: more than all clients of a card need to have a
// turn each.
constexpr unsigned kVainLooks = 1000;

}  // namespace

class Alarms::Entry {
 public:
  Entry(Alarms& alarms, std::uint64_t limit, LimitOf of)
      : alarms_(alarms),
        wait_{limit, alarms.number_++, of, alarms.standstill_, alarms.free_.back()} {
    alarms.free_.pop_back();
    alarms.waits_.insert(&wait_);
    alarms.looks_ += of == LimitOf::kLook ? 1 : 0;
    alarms.arm();
  }
  ~Entry() {
    if (!wait_.rung) alarms_.forget(wait_);
    alarms_.free_.push_back(wait_.over);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  const sc_core::sc_event& over() const { return *wait_.over; }

 private:
  Alarms& alarms_;
  Wait wait_;
};

Alarms::Alarms(const sc_core::sc_module_name& name, std::function<bool()> is_alone)
    : sc_module(name), is_alone_(std::move(is_alone)) {
  SC_METHOD(ring);
  sensitive << due_.event();
  dont_initialize();
}

void Alarms::wait(const sc_core::sc_event& event, std::uint64_t limit, LimitOf of) {
  if (free_.empty()) {
    events_.push_back(std::make_unique<sc_core::sc_event>());
    free_.push_back(events_.back().get());
  }
  const Entry entry(*this, limit, of);
  sc_core::wait(event | entry.over());
}

void Alarms::arm() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  due_.arm(std::max(first(), now), now);  // a look that was in vain may be late
}

void Alarms::forget(Wait& wait) {
  waits_.erase(&wait);
  looks_ -= wait.of == LimitOf::kLook ? 1 : 0;
}

// Whether everybody has looked since anything happened, and most many times, and nothing else goes
// on now.
bool Alarms::looks_in_vain() {
  if (++vain_looks_ <= kVainLooks || looks_ != waits_.size()) return false;
  const bool all = std::all_of(waits_.begin(), waits_.end(), [this](const Wait* wait) {
    return wait->standstill == standstill_;
  });
  return all && is_alone_();
}

void Alarms::ring() {
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  if (!due_.arrived(now)) return;
  while (first() <= now) {
    Wait& wait = **waits_.begin();
    if (wait.of == LimitOf::kWait) note_progress();
    if (wait.of == LimitOf::kLook && looks_in_vain()) return;  // until something else happens
    forget(wait);
    wait.rung = true;
    wait.over->notify();
  }
  arm();
}

}  // namespace npu::model
