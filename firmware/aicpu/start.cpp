// SPDX-License-Identifier: Apache-2.0
// The handshake: thread 0 greets the workers and writes down who they are; then every thread opens
// its own cores.
#include "firmware/aicpu/pmu.hpp"
#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::Handshake;

bool Scheduler::begin() {
  port_.phase(AicpuPhase::kHandshake);
  if (first()) result_.started = port_.system_counter();
  const auto there = static_cast<std::uint32_t>(Presence::kThere);
  if (port_.compare_exchange(run_.thread_line(scratch::kPresence, thread_), 4, 0, there) != 0) {
    cancelled_ = true;  // too late: thread 0 has ended the run
    return false;
  }
  if (first() ? !greet_workers() : !await_cores_known()) return false;
  cores_.deal(run_, thread_);
  dealt_ = true;
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
    complete = await_worker(w, descriptions[w]);
    if (complete) continue;
    Worker missing;
    missing.index = w;
    missing.physical = kNoWorker;
    fail(abi::RunStatus::kCoreMissing, kNoTask, &missing);
    // One that comes after all is to leave again.
    for (; w < workers; ++w) run_.store32(run_.handshake(w, offsetof(Handshake, control)), 1);
  }
  // Of an incomplete run, those that are there are to be sent away again.
  port_.write(run_.control(scratch::kWorkers), descriptions.data(), descriptions.size() * 4);
  run_.store32(run_.control(scratch::kCoresKnown), 1);
  return complete;
}

bool Scheduler::await_worker(std::uint32_t worker, std::uint32_t& description) {
  const std::uint64_t done = run_.handshake(worker, offsetof(Handshake, aicore_done));
  const std::uint64_t deadline = in(4 * quarter_);
  while (run_.load32(done) != worker + 1) {
    if (!port_.poll_again(deadline)) return false;
  }
  const auto core = run_.load32(run_.handshake(worker, offsetof(Handshake, physical_core)));
  const auto type = run_.load32(run_.handshake(worker, offsetof(Handshake, core_type)));
  port_.compute(kStep);
  if (core >= port_.core_windows() || type > static_cast<std::uint32_t>(abi::CoreType::kCoupled)) {
    return false;
  }
  description = core | type << 24;
  return true;
}

bool Scheduler::await_cores_known() {
  // Thread 0 gives up before, one worker at a time.
  const std::uint64_t deadline = in(4 * quarter_ * (run_.header().workers + 1));
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
    const std::uint64_t deadline = in(4 * quarter_);
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
