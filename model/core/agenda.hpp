// SPDX-License-Identifier: Apache-2.0
// The models' shared list of things to do later. One SystemC method serves all of them: handlers
// due at one time share one kernel event, and run in the order they were scheduled.
//
// Where nothing but handlers can happen for a while, the agenda need not go through the kernel for
// each of them: with run_ahead() it serves them one after another, sim_now() ahead of
// sc_time_stamp(), up to (never at) the next time the kernel has something else to do. What a
// handler wants to wake goes through notify(), which lets the kernel catch up first. So processes
// see everything at the same times and in the same order either way.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

namespace npu::model {

// Simulated time inside the models: picoseconds since elaboration (sc_time's resolution is 1 ps).
using SimTime = std::uint64_t;

namespace detail {
inline SimTime ahead_to = 0;  // where a handler is that runs ahead of the kernel; 0: none does
}

// The time at which the caller runs, be it a handler or a process.
inline SimTime sim_now() {
  return detail::ahead_to != 0 ? detail::ahead_to : sc_core::sc_time_stamp().value();
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

  // Only where all modules called by handlers take the time from sim_now() and wake processes
  // through notify(), and the simulation runs without a time limit. Off at first.
  void run_ahead(bool allowed) { may_run_ahead_ = allowed; }
  // Wakes what waits for `event`, now. It must live until then.
  void notify(sc_core::sc_event& event);

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
  static bool earlier(const Entry& a, const Entry& b) {
    return a.when != b.when ? a.when < b.when : a.sequence < b.sequence;
  }

  void schedule(SimTime when, Entry entry);
  Entry take_first();
  void run();
  void run_due(SimTime now);
  void advance_ahead();
  void arm(SimTime when);

  std::vector<Entry> heap_;  // each entry before its children 4 i + 1 .. 4 i + 4
  std::uint64_t next_sequence_ = 0;
  SimTime armed_for_ = UINT64_MAX;
  bool running_ = false;
  bool may_run_ahead_ = false;
  std::vector<sc_core::sc_event*> notices_;  // of handlers ahead of the kernel
  sc_core::sc_event wake_;
};

}  // namespace npu::model
