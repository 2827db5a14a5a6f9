// SPDX-License-Identifier: Apache-2.0
// The models' shared list of things to do later. One SystemC method serves all of them: handlers
// due at one time share one kernel event, and run in the order they were scheduled.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

namespace npu::model {

// Simulated time inside the models: picoseconds since elaboration (sc_time's resolution is 1 ps).
using SimTime = std::uint64_t;

inline SimTime sim_now() {
  return sc_core::sc_time_stamp().value();
}

class Agenda : public sc_core::sc_module {
 public:
  explicit Agenda(const sc_core::sc_module_name& name);
  SC_HAS_PROCESS(Agenda);

  // Calls (object.*Method)(argument) at `when`, which must not lie in the past.
  template <auto Method, class T>
  void at(SimTime when, T& object, std::uint64_t argument = 0) {
    schedule(when, Entry{when, 0, &object, argument, [](void* self, std::uint64_t arg) {
                           (static_cast<T*>(self)->*Method)(arg);
                         }});
  }

  std::size_t pending() const { return heap_.size(); }
  // True while handlers due at the present time have not run.
  bool due_now() const { return !heap_.empty() && heap_.front().when <= sim_now(); }

 private:
  struct Entry {
    SimTime when;
    std::uint64_t sequence;  // first scheduled, first run
    void* object;
    std::uint64_t argument;
    void (*call)(void*, std::uint64_t);
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }

  void schedule(SimTime when, Entry entry);
  void run();
  void arm();

  std::vector<Entry> heap_;
  std::uint64_t next_sequence_ = 0;
  SimTime armed_for_ = UINT64_MAX;
  bool running_ = false;
  sc_core::sc_event wake_;
};

}  // namespace npu::model
