// SPDX-License-Identifier: Apache-2.0
// Host tasks: SystemC threads that run on CPU cores, and the accounting of what they do. With more
// tasks than cores some wait for one (run_queue.hpp).
//
// A task's local time may run ahead of simulated time by what it has been charged and not yet
// waited for (temporal decoupling); every access that anything else could observe synchronises
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "model/host/executed.hpp"
#include "model/host/host_task.hpp"
#include "model/host/run_queue.hpp"

namespace npu::model {

// A deadline that a program has given: the end of time is never, and what is before its beginning
// has passed.
inline SimTime deadline_ticks(Instant deadline) {
  if (deadline == Instant::never()) return UINT64_MAX;
  return deadline < Instant() ? 0 : ticks(deadline);
}

class HostCpus {
 public:
  HostCpus(Simulation& simulation, const HostCpuConfig& config);

  const HostCpuConfig& config() const { return config_; }
  // Instructions of host software; those executed since the last call become the current task's.
  Executed& executed() { return executed_; }
  HostTask& current() { return *current_; }

  // Starts `body`, at once if a core is idle.
  std::shared_ptr<HostTask> spawn(std::string name, std::function<void()> body);
  void join(HostTask& task);

  // CPU time of the current task, waited for at the next synchronise().
  void charge(Picoseconds time) {
    account();
    current_->pending += ticks(time);
    current_->stores = 0;
  }
  // The time that so many instructions take, which nobody has counted.
  void charge_instructions(std::uint64_t count) {
    account();
    current_->pending += count * kHundredMicroseconds / clocks_by_percent_;
  }
  // The same for a store or a barrier, behind which the core goes on with instructions.
  void charge_store(Picoseconds time) {
    account();
    current_->pending += ticks(time);
    current_->stores += ticks(time);
  }
  // The current task has nothing to do until `event`: no busy and no idle time of its.
  void rest(const sc_core::sc_event& event);
  // Simulated time catches up with the current task's local time.
  void synchronise();
  // The same, unless nobody could tell: for what only other tasks observe.
  void synchronise_with_tasks() {
    account();
    if (tasks_.size() > 1) synchronise();
  }
  // As synchronise(), and the SystemC kernel as well: before the kernel is used directly.
  void catch_up();
  SimTime local_now() {
    account();
    return sim_now() + current_->pending;
  }
  // A blocking transport by the current task: its core stalls for the round trip.
  template <class Socket>
  void transport(Socket& socket, tlm::tlm_generic_payload& payload) {
    auto& task = *current_;
    const SimTime begin = sim_now();
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    resume(task);
    task.usage.busy += Picoseconds(static_cast<std::int64_t>(sim_now() - begin));
  }
  // Simulated time passes until `event` or `limit`, or until the task's time on its core is over,
  // with the core spinning; the caller accounts for it with spin().
  void watch(const sc_core::sc_event& event, SimTime limit);
  // The core has spun since `since` and does so until `until`; charged time is part of that.
  void spin(SimTime since, SimTime until);
  // Gives up the core until `event` or `deadline`; true on the event. Costs the two halves of a
  // context switch. `ready` is asked again after the first half, so that what came meanwhile
  // is not slept over.
  bool block(const sc_core::sc_event& event, SimTime deadline, const std::function<bool()>& ready,
             std::string waiting_for, LimitOf of = LimitOf::kWait);

  // The current task wakes those that wait for the event.
  void notify(sc_core::sc_event& event) { simulation_.agenda.notify(event); }

  // An interrupt handler runs on `core`, behind those that run there already, and delays the task
  // there. Returns when it ends.
  SimTime interrupt(unsigned core);
  // A handler ends now on `core`.
  void trace_interrupt(unsigned core, std::uint64_t cause);
  // Called when a task gives up its core: what it has stored leaves.
  void on_handover(std::function<void()> call) { handover_ = std::move(call); }

  // Times that a task has given up its core and got it back.
  std::uint64_t context_switches() const { return context_switches_; }

  // A line per task that has not ended: what it waits for. Empty if all have.
  std::string unfinished() const;

 private:
  // What the current task has executed since the last call takes its time.
  void account() {
    const std::uint64_t count = executed_.take();
    if (count == 0) return;
    auto& task = *current_;
    task.rest += count * kHundredMicroseconds;
    const SimTime time = task.rest / clocks_by_percent_;
    task.rest %= clocks_by_percent_;
    const SimTime hidden = std::min(time, task.stores);
    task.stores -= hidden;
    task.pending += time - hidden;
  }
  void wait_until(SimTime when);
  void serve_stolen();
  void give_up(HostTask& task);
  void take(HostTask& task);
  void came_back(std::uint32_t track, SimTime left);
  void yield();
  void move_to_core(HostTask& task);
  void resume(HostTask& task);
  void end_busy(HostTask& task);

  static constexpr std::uint64_t kHundredMicroseconds = 100'000'000;  // ps

  Simulation& simulation_;
  HostCpuConfig config_;
  Executed executed_;
  std::uint64_t clocks_by_percent_;  // MHz times instructions in 100 clocks
  RunQueue cores_;
  std::vector<SimTime> handler_until_;            // by core
  std::vector<std::shared_ptr<HostTask>> tasks_;  // that have not ended
  std::function<void()> handover_;
  std::uint64_t context_switches_ = 0;
  HostTask nobody_;
  HostTask* current_ = &nobody_;
};

}  // namespace npu::model
