// SPDX-License-Identifier: Apache-2.0
#include "model/host/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npu::model {
namespace {

constexpr int kTaskStackBytes = 256 * 1024;

}  // namespace

HostCpus::HostCpus(Simulation& simulation, const HostCpuConfig& config)
    : simulation_(simulation),
      config_(config),
      clocks_by_percent_(config.clock_hz / 1'000'000 * config.ipc_percent),
      on_core_(config.cores) {}

std::shared_ptr<HostTask> HostCpus::spawn(std::string name, std::function<void()> body) {
  const auto free_core = std::find(on_core_.begin(), on_core_.end(), nullptr);
  if (free_core == on_core_.end()) return nullptr;
  auto task = std::make_shared<HostTask>();
  task->name = std::move(name);
  task->core = static_cast<unsigned>(free_core - on_core_.begin());
  task->track = simulation_.recorder.track(fmt::format("host.cpu{}", task->core));
  *free_core = task;
  ++tasks_;
  sc_core::sc_spawn_options options;
  options.set_stack_size(kTaskStackBytes);
  catch_up();
  sc_core::sc_spawn(
      [this, task, work = std::move(body)] {
        resume(*task);
        task->busy_since = sim_now();
        work();
        catch_up();
        end_busy(*task);
        task->done = true;
        on_core_[task->core] = nullptr;
        --tasks_;
        task->finished.notify();
        resume(nobody_);  // the task's own memory goes with it
      },
      nullptr, &options);
  return task;
}

void HostCpus::join(HostTask& task) {
  synchronise();
  while (!task.done) {
    block(
        task.finished, UINT64_MAX, [&] { return task.done; }, "task " + task.name);
  }
}

void HostCpus::rest(const sc_core::sc_event& event) {
  auto& task = *current_;
  catch_up();
  end_busy(task);
  resume(nobody_);
  simulation_.agenda.wait_with_others(event);
  resume(task);
  task.busy_since = sim_now();
}

void HostCpus::resume(HostTask& task) {
  current_ = &task;
  simulation_.recorder.set_cause_slot(&task.cause);
}

void HostCpus::end_busy(HostTask& task) {
  if (sim_now() > task.busy_since) {
    simulation_.emit(task.track, platform::Activity::kCpuBusy, task.busy_since, sim_now());
  }
}

void HostCpus::wait_until(SimTime when) {
  auto& task = *current_;
  // At equal times models go first, so that a poll sees what was written at its very instant.
  simulation_.agenda.wait_until(when);
  resume(task);
}

void HostCpus::synchronise() {
  account();
  auto& task = *current_;
  if (task.pending == 0) return;
  task.usage.busy += Picoseconds(static_cast<std::int64_t>(task.pending));
  const SimTime target = sim_now() + task.pending;
  task.pending = 0;
  wait_until(target);
}

void HostCpus::catch_up() {
  auto& task = *current_;
  synchronise();
  simulation_.agenda.catch_up();
  resume(task);
}

void HostCpus::watch(const sc_core::sc_event& event, SimTime limit) {
  auto& task = *current_;
  task.waiting_for = "a change in memory it polls";
  simulation_.agenda.wait(event, limit);
  resume(task);
  task.waiting_for.clear();
}

void HostCpus::spin(SimTime since, SimTime until) {
  auto& task = *current_;
  task.usage.busy += Picoseconds(static_cast<std::int64_t>(until - since));
  task.pending = task.stores = 0;
  wait_until(until);
}

bool HostCpus::block(const sc_core::sc_event& event, SimTime deadline,
                     const std::function<bool()>& ready, std::string waiting_for) {
  auto& task = *current_;
  charge(config_.block);
  synchronise();
  if (ready()) return true;
  simulation_.emit(task.track, platform::Activity::kContextSwitch, sim_now() - ticks(config_.block),
                   sim_now(), task.cause);
  end_busy(task);
  const SimTime begin = sim_now();
  task.waiting_for = std::move(waiting_for);
  bool woken = true;
  if (deadline > begin) simulation_.agenda.wait_with_others(event, deadline);
  if (deadline != UINT64_MAX) woken = deadline > begin && ready();
  resume(task);
  task.waiting_for.clear();
  task.usage.idle += Picoseconds(static_cast<std::int64_t>(sim_now() - begin));
  ++task.usage.context_switches;
  ++context_switches_;
  simulation_.emit(task.track, platform::Activity::kCpuIdle, begin, sim_now(), task.cause);
  task.busy_since = sim_now();
  charge(config_.wake);
  synchronise();
  simulation_.emit(task.track, platform::Activity::kContextSwitch, task.busy_since, sim_now(),
                   task.cause);
  return woken;
}

std::string HostCpus::unfinished() const {
  std::string lines;
  for (const auto& task : on_core_) {
    if (task && !task->done) {
      lines += fmt::format("{}{} waits for {}", lines.empty() ? "" : "; ", task->name,
                           task->waiting_for.empty() ? "the device" : task->waiting_for);
    }
  }
  return lines;
}

}  // namespace npu::model
