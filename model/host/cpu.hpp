// SPDX-License-Identifier: Apache-2.0
// Host tasks: SystemC threads, each on a CPU core of its own, and the accounting of what they do.
//
// A task's local time may run ahead of simulated time by what it has been charged and not yet
// waited for (temporal decoupling); every access that anything else could observe synchronises
// first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "model/config/system_config.hpp"
#include "model/core/simulation.hpp"
#include "npu/platform/time.hpp"

namespace npu::model {

// A deadline that a program has given: the end of time is never, and what is before its beginning
// has passed.
inline SimTime deadline_ticks(Instant deadline) {
  if (deadline == Instant::never()) return UINT64_MAX;
  return deadline < Instant() ? 0 : ticks(deadline);
}

struct HostTask {
  std::string name;
  unsigned core = 0;
  std::uint32_t track = 0;
  std::uint64_t cause = 0;
  SimTime pending = 0;     // charged, not yet waited for
  SimTime busy_since = 0;  // of the current stretch without blocking
  platform::CpuUsage usage;
  std::string waiting_for;  // while blocked; for the deadlock report
  bool done = false;
  sc_core::sc_event finished;
};

class HostCpus {
 public:
  HostCpus(Simulation& simulation, const HostCpuConfig& config);

  const HostCpuConfig& config() const { return config_; }
  HostTask& current() { return *current_; }

  // Starts `body` on a free core; null if there is none.
  std::shared_ptr<HostTask> spawn(std::string name, std::function<void()> body);
  void join(HostTask& task);

  // CPU time of the current task, waited for at the next synchronise().
  void charge(Picoseconds time) { current_->pending += ticks(time); }
  // The current task has nothing to do until `event`: no busy and no idle time of its.
  void rest(const sc_core::sc_event& event);
  // Simulated time catches up with the current task's local time.
  void synchronise();
  // The same, unless nobody could tell: for what only other tasks observe.
  void synchronise_with_tasks() {
    if (tasks_ > 1) synchronise();
  }
  // As synchronise(), and the SystemC kernel as well: before the kernel is used directly.
  void catch_up();
  SimTime local_now() const { return sim_now() + current_->pending; }
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
  // Simulated time passes until `event` or `limit` with the core spinning; the caller accounts
  // for it with spun().
  void watch(const sc_core::sc_event& event, SimTime limit);
  // The core has spun since `since` and does so until `until`; charged time is part of that.
  void spin(SimTime since, SimTime until);
  // Gives up the core until `event` or `deadline`; true on the event. Costs the two halves of a
  // context switch. `ready` is asked again after the first half, so that what came meanwhile
  // is not slept over.
  bool block(const sc_core::sc_event& event, SimTime deadline, const std::function<bool()>& ready,
             std::string waiting_for);

  // Times that a task has given up its core and got it back.
  std::uint64_t context_switches() const { return context_switches_; }

  // A line per task that has not ended: what it waits for. Empty if all have.
  std::string unfinished() const;

 private:
  void wait_until(SimTime when);
  void resume(HostTask& task);
  void end_busy(HostTask& task);

  Simulation& simulation_;
  HostCpuConfig config_;
  std::vector<std::shared_ptr<HostTask>> on_core_;  // by core; null: free
  unsigned tasks_ = 0;                              // that have not ended
  std::uint64_t context_switches_ = 0;
  HostTask nobody_;
  HostTask* current_ = &nobody_;
};

}  // namespace npu::model
