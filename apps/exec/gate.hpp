// SPDX-License-Identifier: Apache-2.0
// When simulated time goes on. It stands still while anything of any program runs by itself, and
// goes on when every thread of every program has called, sleeps or has ended, and at least one
// has called. So the calls reach the model in an order that depends on simulated time and on the
// names of threads, and never on when the machine under npusim let which of them run.
//
// A thread is a task of the modelled host, which serves its calls. Whoever has answered a call
// settles: waits, in wall time, until all is quiet. Calls that have come by then are served at that
// very simulated time, in the order of their threads' names.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/exec/client.hpp"
#include "apps/exec/host/listener.hpp"
#include "apps/exec/process_list.hpp"
#include "npu/platform/platform.hpp"

namespace npu::exec {

class Gate {
 public:
  // What a task of a thread does, from its beginning to its end.
  using Body = std::function<void(ClientThread&)>;

  // `timeout`: wall time after which others do not wait any more for a program that neither calls
  // nor sleeps.
  Gate(platform::Platform& platform, Listener& listener, std::chrono::milliseconds timeout,
       Body body);

  // Before run(): a program that runs.
  void add(std::string name, std::string title, pid_t id);
  // By the first host task: until all programs have ended, and their children, whoever they are
  // children of by then. `end_calls` makes those of an ended one return, or of one that runs
  // another image now; `clean` gives back what it had.
  void run(const std::function<void(ClientProcess&)>& end_calls,
           const std::function<void(ClientProcess&)>& clean);

  // Called while it waits for programs in wall time.
  void on_idle(std::function<void()> idle) { idle_ = std::move(idle); }
  // Asked then: true, and no program is waited for any more. Simulated time goes on with nothing
  // happening, until somebody stops the simulation.
  void on_interrupt(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }
  // Told when a process begins or ceases to be stalled.
  void on_stall(std::function<void(ClientProcess&)> told) { stall_told_ = std::move(told); }

  // By a thread's task: its next call, when time has come for it. False: there will be none.
  bool next(ClientThread& thread, CallRecord& call);
  void answer(ClientThread& thread, int status, const CallRecord& call);
  // The thread has ended, or its program has: the task's last word.
  void leave(ClientThread& thread);

  // By who has ended all programs: nothing is served any more.
  void give_up();

  const std::deque<ClientProcess>& processes() const { return processes_.all(); }

 private:
  // `self`: who has just answered; null: nobody has.
  void await_quiescence(const ClientThread* self);
  void wait_for_relatives(const ClientProcess& process);
  // True: there are some.
  bool look_for_calls();
  bool look_for_arrivals();
  void reap_processes();
  void check_orphans();
  void add_thread(ClientProcess& process, Arrival arrival);
  void replace(ClientProcess& process, std::uint64_t image);
  void take_over(ClientProcess& process);
  void reap(ClientProcess& process, int status);
  void end_threads(ClientProcess& process);
  void finish(ClientProcess& process);
  void stay();
  bool is_quiescent_by_count();
  bool is_quiescent();
  void wait_for_programs(const ClientThread* self, long nanoseconds);
  void give_up_on_silent();
  void resume(const ClientThread* self);
  void name_task(ClientThread& thread);
  void spawn_task(ClientThread& thread);
  bool has_more_for_first_task() const {
    return !in_calls_.empty() || !ended_.empty() || is_over();
  }
  bool is_over() const;

  platform::Platform& platform_;
  Listener& listener_;
  const std::chrono::milliseconds timeout_;
  const Body body_;
  std::function<void(ClientProcess&)> stall_told_;
  std::function<void()> idle_;
  std::function<bool()> interrupted_;
  ProcessList processes_;
  std::unique_ptr<platform::Mutex> lock_;
  std::unique_ptr<platform::Condition> to_clean_, given_back_;
  std::unique_ptr<platform::Condition> nobody_;  // waits for it
  std::deque<ClientProcess*> in_calls_;          // has ended in the midst of them
  std::deque<ClientProcess*> ended_;             // to be cleaned
  std::vector<ClientThread*> woken_;             // ready since the last resume()
  unsigned busy_ = 0;                            // calls and cleanings that take simulated time
  bool may_have_orphans_ = false;  // a process that had children has ended since the last look
  bool has_orphans_ = false;
  bool left_orphans_ = false;  // nobody waits for them any more
};

}  // namespace npu::exec
