// SPDX-License-Identifier: Apache-2.0
// The handshake: thread 0 greets the workers and writes down who they are; then every thread opens
// its own cores.
#include "firmware/aicpu/pmu.hpp"
#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::Handshake;

bool Scheduler::begin() {
  enter(AicpuPhase::kHandshake);
  if (first()) result_.started = port_.system_counter();
  const auto there = static_cast<std::uint32_t>(Presence::kThere);
  if (port_.compare_exchange(run_.thread_line(scratch::kPresence, thread_), 4, 0, there) != 0) {
    cancelled_ = true;  // too late: thread 0 has ended the run
    return false;
  }
  if (first() ? !greet_workers() : !await_cores_known()) return false;
  cores_.deal(run_, thread_, *link_);
  dealt_ = true;
  plain_cores_ = !watched_ && cores_.counts().lanes > 1;
  const bool opened = open_cores();
  if (first()) result_.handshaken = port_.system_counter();
  return opened;
}

// The lines are the scheduler's until aicpu_ready is set, then the core's until aicore_done is.
bool Scheduler::greet_workers() {
  const std::uint32_t workers = run_.header().workers;
  for (std::uint32_t w = 0; w < workers; ++w) {
    run_.store32(run_.handshake(w, offsetof(Handshake, aicpu_ready)), 1);
  }
  port_.barrier();
  std::vector<std::uint32_t> descriptions(workers, kNoWorker);
  bool complete = true;
  for (std::uint32_t w = 0; w < workers && complete; ++w) {
    const std::uint64_t deadline = in(quiet_);
    while (!has_come(w) && port_.poll_again(deadline)) continue;
    descriptions[w] = description_of(w);
    complete = descriptions[w] != kNoWorker;
    if (!complete) dismiss_without(w, descriptions);
  }
  port_.write(run_.control(scratch::kWorkers), descriptions.data(), descriptions.size() * 4);
  run_.store32(run_.control(scratch::kCoresKnown), 1);
  return complete;
}

bool Scheduler::has_come(std::uint32_t worker) {
  return run_.load32(run_.handshake(worker, offsetof(Handshake, aicore_done))) == worker + 1;
}

// A run without one of its cores: those behind it that have come are sent away with those before
// it. Those that have not are told in their lines, which the memory handshake looks at.
void Scheduler::dismiss_without(std::uint32_t missing, std::vector<std::uint32_t>& descriptions) {
  Worker worker;
  worker.index = missing;
  worker.physical = kNoWorker;
  fail(abi::RunStatus::kCoreMissing, kNoTask, &worker);
  for (std::uint32_t w = missing; w < run_.header().workers; ++w) {
    if (w != missing) descriptions[w] = description_of(w);
    if (descriptions[w] != kNoWorker) continue;
    run_.store32(run_.handshake(w, offsetof(Handshake, control)), 1);
  }
}

// Of a worker that has come and says who it is; else kNoWorker.
std::uint32_t Scheduler::description_of(std::uint32_t worker) {
  if (!has_come(worker)) return kNoWorker;
  const auto core = run_.load32(run_.handshake(worker, offsetof(Handshake, physical_core)));
  const auto type = run_.load32(run_.handshake(worker, offsetof(Handshake, core_type)));
  if (core >= port_.core_windows() || type > static_cast<std::uint32_t>(abi::CoreType::kCoupled)) {
    return kNoWorker;
  }
  return core | type << 24;
}

bool Scheduler::await_cores_known() {
  // Thread 0 gives up before, one worker at a time.
  const std::uint64_t deadline = in(quiet_ * (run_.header().workers + 1));
  for (;;) {
    const bool known = run_.load32(run_.control(scratch::kCoresKnown)) != 0;
    if (stopped()) return false;
    if (known) return true;
    if (!port_.poll_again(deadline)) return false;
  }
}

bool Scheduler::open_cores() {
  for (const auto& worker : cores_.workers()) link_->open(worker);
  port_.barrier();
  for (const auto& worker : cores_.workers()) {
    const std::uint64_t deadline = in(quiet_);
    while (!link_->answered(worker)) {
      if (port_.poll_again(deadline)) continue;
      fail(abi::RunStatus::kCoreMissing, kNoTask, &worker, 0, link_->cond(worker));
      return false;
    }
    start_pmu(run_, worker);
  }
  publish();
  return true;
}

}  // namespace npu::firmware
