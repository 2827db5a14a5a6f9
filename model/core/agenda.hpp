// SPDX-License-Identifier: Apache-2.0
// The models' shared list of things to do later. One SystemC method serves all of them: handlers
// due at one time share one kernel event, and run in the order they were scheduled.
//
// Where nothing but handlers can happen for a while, the agenda need not go through the kernel for
// each of them: with run_ahead() they are served one after another, sim_now() ahead of
// sc_time_stamp(), up to (never at) the next time the kernel has something else to do. Either the
// agenda's own method does so, or a process that waits through the agenda and then goes on itself
// without having been switched away from. What a handler wants to wake goes through notify(),
// which lets the kernel catch up first. So processes see everything at the same times and in the
// same order either way.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <systemc>
#include <utility>
#include <vector>

#include "model/core/alarms.hpp"
#include "model/core/handler_queue.hpp"
#include "model/core/stepped_event.hpp"

namespace npu::model {

// Simulated time inside the models: picoseconds since elaboration (sc_time's resolution is 1 ps).
using SimTime = std::uint64_t;

namespace detail {
inline SimTime ahead_to = 0;  // where a handler or process is that runs ahead of the kernel, else 0
inline SimTime in_step = 0;   // where a handler is that runs at the kernel's time, else 0
// What sc_time_stamp() gives, without a call: it is asked for some hundred times a transaction.
inline const sc_core::sc_time& kernel_time = sc_core::sc_get_curr_simcontext()->time_stamp();
}  // namespace detail

// The time at which the caller runs, be it a handler or a process.
inline SimTime sim_now() {
  const SimTime known = detail::ahead_to | detail::in_step;  // one of them at most
  return known != 0 ? known : detail::kernel_time.value();
}

// Whose one handler may find that what it was scheduled for is over.
class Timeout {
 public:
  virtual ~Timeout() = default;
  // The handler is scheduled, and nothing is left that it would end.
  virtual bool is_void() = 0;
};

class Agenda : public sc_core::sc_module {
 public:
  explicit Agenda(const sc_core::sc_module_name& name);
  SC_HAS_PROCESS(Agenda);

  // Calls (object.*Method)(argument) at `when`, which must not lie in the past.
  template <auto Method, class T>
  void at(SimTime when, T& object, std::uint64_t argument = 0) {
    schedule(when, &object, argument,
             [](void* self, std::uint64_t arg) { (static_cast<T*>(self)->*Method)(arg); });
  }

  // Only where all modules called by handlers take the time from sim_now(), wake processes through
  // notify(), and processes that call models wait through the agenda; and where the simulation
  // runs without a time limit. Off at first.
  void run_ahead(bool allowed) { may_run_ahead_ = allowed; }
  // Wakes what waits for `event`, now. It must live until then.
  void notify(sc_core::sc_event& event);

  // For processes. Until `when`; at equal times handlers go first.
  void wait_until(SimTime when);
  // Until `event` or `limit`. The caller must be the only one that waits for the event.
  void wait(const sc_core::sc_event& event, SimTime limit = UINT64_MAX);
  // The same for an event that others may wait for too.
  void wait_with_others(const sc_core::sc_event& event, SimTime limit = UINT64_MAX,
                        LimitOf of = LimitOf::kWait);
  // Until whatever else runs at this time has run once. The kernel is where the caller is.
  static void wait_a_delta();
  // The kernel catches up with the calling process: to be called before it uses the kernel itself
  // (spawns a process, ends, pauses the simulation).
  void catch_up();

  // Calls `look` soon after `raised` has been set, between two times of handlers; it may read what
  // models count and clears `raised`. True: the simulation stops there for good, as sc_pause()
  // does; processes stay where they are, also ones that wait from then on.
  void attend(const std::atomic<bool>& raised, std::function<bool()> look) {
    raised_ = &raised;
    look_ = std::move(look);
  }
  bool stopped() const { return stopped_; }

  // Handlers that have run since the start, or run now.
  std::uint64_t served() const { return handlers_.pushed() - pending(); }
  std::size_t pending() const { return handlers_.size(); }
  // For processes: when something will happen by itself, or earlier; UINT64_MAX: nothing will.
  SimTime next_activity();
  // Something that a program may wait for has been done on a card: a command, a block.
  void note_progress() { alarms_.note_progress(); }
  // `timeout` lives as long as the agenda.
  void add(Timeout& timeout) { timeouts_.push_back(&timeout); }
  // True while handlers due at the present time have not run.
  bool due_now() const { return handlers_.first() <= sim_now(); }

 private:
  void schedule(SimTime when, void* object, std::uint64_t argument, HandlerQueue::Call call);
  void run();
  void run_due(SimTime now) {
    while (handlers_.first() <= now) {
      const auto handler = handlers_.take();
      handler.call(handler.object, handler.argument);
    }
  }
  void serve(SimTime until);
  void advance_ahead();
  void arm(SimTime when);
  SimTime kernel_idle_until() const;
  bool take_off();
  void land();
  bool stops() { return raised_->load(std::memory_order_relaxed) && asks(); }
  bool asks();
  void stay();
  bool only_timeouts();
  bool only_limits();

  HandlerQueue handlers_;
  SimTime limit_ = 0;           // the kernel has something else to do then
  bool running_ = false;        // a handler
  bool process_ahead_ = false;  // a process goes on at sim_now()
  bool may_run_ahead_ = false;
  std::vector<Timeout*> timeouts_;
  std::vector<sc_core::sc_event*> notices_;  // of handlers ahead of the kernel
  SteppedEvent wake_;
  Alarms alarms_{"alarms", [this] { return only_limits(); }};
  static inline const std::atomic<bool> kNever{false};
  const std::atomic<bool>* raised_ = &kNever;
  std::function<bool()> look_;
  bool stopped_ = false;
  sc_core::sc_event never_;
};

}  // namespace npu::model
