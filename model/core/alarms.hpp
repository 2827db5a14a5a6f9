// SPDX-License-Identifier: Apache-2.0
// Limits of waits: up to when a process waits for an event. Most waits end long before theirs, and
// the kernel would keep each of these until its time comes, which makes every other one slower to
// find. Here a limit is gone with its wait, and the kernel knows of the earliest one alone.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <systemc>
#include <vector>

#include "model/core/stepped_event.hpp"

namespace npu::model {

class Alarms : public sc_core::sc_module {
 public:
  explicit Alarms(const sc_core::sc_module_name& name);
  SC_HAS_PROCESS(Alarms);

  // For processes, with the kernel at their time: until `event` or `limit`, picoseconds.
  void wait(const sc_core::sc_event& event, std::uint64_t limit);
  // The earliest limit; UINT64_MAX: nobody waits with one.
  std::uint64_t first() const { return waits_.empty() ? UINT64_MAX : (*waits_.begin())->limit; }
  // The kernel has none of them among what it has to do, until arm().
  void disarm() { due_.disarm(); }
  void arm();
  // Where the kernel has nothing else to do it must not go on to a limit whose wait has ended.
  void forget_ended() {
    if (waits_.empty()) disarm();
  }

 private:
  struct Wait {
    std::uint64_t limit;
    std::uint64_t number;  // of equal limits the one that was first there is over first
    sc_core::sc_event* over;
    bool rung = false;
  };
  struct Earlier {
    bool operator()(const Wait* a, const Wait* b) const {
      return a->limit != b->limit ? a->limit < b->limit : a->number < b->number;
    }
  };
  // Ends with the wait, also with one whose process is killed.
  class Entry;

  void ring();

  std::set<Wait*, Earlier> waits_;
  std::uint64_t number_ = 0;
  SteppedEvent due_;  // armed for the first one, or for one before it whose wait has ended
  std::vector<std::unique_ptr<sc_core::sc_event>> events_;
  std::vector<sc_core::sc_event*> free_;
};

}  // namespace npu::model
