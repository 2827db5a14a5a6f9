// SPDX-License-Identifier: Apache-2.0
#include "model/host/cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace npu::model {
namespace {

constexpr int kTaskStackBytes = 256 * 1024;

}  // namespace

HostCpus::HostCpus(Simulation& simulation, const HostCpuConfig& config)
    : simulation_(simulation),
      config_(config),
      clocks_by_percent_(config.clock_hz / 1'000'000 * config.ipc_percent),
      cores_(simulation.agenda, config.cores, ticks(config.time_slice)),
      handler_until_(config.cores) {}

std::shared_ptr<HostTask> HostCpus::spawn(std::string name, std::function<void()> body) {
  auto task = std::make_shared<HostTask>();
  task->name = std::move(name);
  tasks_.push_back(task);
  cores_.enter(*task);
  move_to_core(*task);
  cores_.take(*task);
  sc_core::sc_spawn_options options;
  options.set_stack_size(kTaskStackBytes);
  catch_up();
  sc_core::sc_spawn(
      [this, task, work = std::move(body)] {
        if (!task->has_core) simulation_.agenda.wait(task->granted);
        resume(*task);
        move_to_core(*task);
        task->busy_since = sim_now();
        work();
        catch_up();
        end_busy(*task);
        task->done = true;
        give_up(*task);
        cores_.leave(*task);
        tasks_.erase(std::find(tasks_.begin(), tasks_.end(), task));
        task->finished.notify();
        resume(nobody_);  // the task's own memory goes with it
      },
      nullptr, &options);
  return task;
}

void HostCpus::move_to_core(HostTask& task) {
  task.track = simulation_.recorder.track(fmt::format("host.cpu{}", task.core));
}

void HostCpus::give_up(HostTask& task) {
  if (handover_) handover_();
  cores_.give_up(task);
}

// Its core, or another one, once one is free and no handler runs there.
void HostCpus::take(HostTask& task) {
  const unsigned before = task.core;
  if (!cores_.take(task)) {
    while (!task.has_core) simulation_.agenda.wait(task.granted);
  }
  resume(task);
  if (task.core != before) move_to_core(task);
  task.stolen = 0;
  const SimTime until = handler_until_[task.core];
  if (until > sim_now()) task.stolen = until - sim_now();
}

// The current task has a core again, without which it was since `left`, on `track`.
void HostCpus::came_back(std::uint32_t track, SimTime left) {
  auto& task = *current_;
  task.waiting_for.clear();
  task.usage.idle += Picoseconds(static_cast<std::int64_t>(sim_now() - left));
  ++task.usage.context_switches;
  ++context_switches_;
  simulation_.emit(track, platform::Activity::kCpuIdle, left, sim_now(), task.cause);
  task.busy_since = sim_now();
}

// Its time on the core is over, and others wait.
void HostCpus::yield() {
  auto& task = *current_;
  const SimTime begin = sim_now();
  wait_until(begin + ticks(config_.block));
  task.usage.busy += config_.block;
  simulation_.emit(task.track, platform::Activity::kContextSwitch, begin, sim_now(), task.cause);
  end_busy(task);
  const SimTime left = sim_now();
  const auto track = task.track;
  task.waiting_for = "a core";
  give_up(task);
  take(task);
  came_back(track, left);
}

SimTime HostCpus::interrupt(unsigned core) {
  const SimTime begin = std::max(sim_now(), handler_until_[core]);
  const SimTime end = begin + ticks(config_.interrupt);
  handler_until_[core] = end;
  if (auto* const task = cores_.on(core)) task->stolen += end - begin;
  return end;
}

void HostCpus::trace_interrupt(unsigned core, std::uint64_t cause) {
  if (config_.interrupt == Picoseconds() || !simulation_.recorder.enabled()) return;
  const auto track = simulation_.recorder.track(fmt::format("host.cpu{}", core));
  simulation_.emit(track, platform::Activity::kInterruptHandler,
                   sim_now() - ticks(config_.interrupt), sim_now(), cause);
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
  give_up(task);
  resume(nobody_);
  simulation_.agenda.wait_with_others(event);
  resume(task);
  take(task);
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
  serve_stolen();
}

// What handlers took of its core meanwhile; then it is looked whether others wait for it.
void HostCpus::serve_stolen() {
  auto& task = *current_;
  while (task.stolen != 0) {
    const SimTime stolen = std::exchange(task.stolen, 0);
    task.usage.busy += Picoseconds(static_cast<std::int64_t>(stolen));
    wait_until(sim_now() + stolen);
  }
  if (cores_.is_over(task)) yield();
}

void HostCpus::catch_up() {
  auto& task = *current_;
  synchronise();
  simulation_.agenda.catch_up();
  resume(task);
}

void HostCpus::watch(const sc_core::sc_event& event, SimTime limit) {
  auto& task = *current_;
  if (cores_.has_waiting()) limit = std::clamp(task.slice_end, sim_now(), limit);
  if (limit <= sim_now()) return;
  task.waiting_for = "a change in memory it polls";
  task.watched = &event;
  simulation_.agenda.wait(event, limit);
  task.watched = nullptr;
  resume(task);
  task.waiting_for.clear();
}

void HostCpus::spin(SimTime since, SimTime until) {
  auto& task = *current_;
  task.usage.busy += Picoseconds(static_cast<std::int64_t>(until - since));
  task.pending = task.stores = 0;
  wait_until(until);
  serve_stolen();
}

bool HostCpus::block(const sc_core::sc_event& event, SimTime deadline,
                     const std::function<bool()>& ready, std::string waiting_for, LimitOf of) {
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
  const auto track = task.track;
  if (deadline > begin) {
    give_up(task);
    simulation_.agenda.wait_with_others(event, deadline, of);
  }
  if (deadline != UINT64_MAX) woken = deadline > begin && ready();
  if (deadline > begin) take(task);
  resume(task);
  came_back(track, begin);
  charge(config_.wake);
  synchronise();
  simulation_.emit(task.track, platform::Activity::kContextSwitch, task.busy_since, sim_now(),
                   task.cause);
  return woken;
}

std::string HostCpus::unfinished() const {
  std::string lines;
  for (const auto& task : tasks_) {
    lines += fmt::format("{}{} waits for {}", lines.empty() ? "" : "; ", task->name,
                         task->waiting_for.empty() ? "the device" : task->waiting_for);
  }
  return lines;
}

}  // namespace npu::model
