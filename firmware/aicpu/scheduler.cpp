// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/scheduler.hpp"

#include <algorithm>

#include "firmware/program.hpp"

namespace npu::firmware {
namespace {

// Of the watchdog's time there are 26 to 27 looks until a run that stands still is given up, two
// for its cores to leave, and the rest for the diagnosis: its result is there in time
// (watchdog.cpp).
constexpr std::uint64_t kLooks = 32, kQuietLooks = 26;

}  // namespace

Scheduler::Scheduler(AicpuPort& port, std::uint64_t address)
    : port_(port),
      run_(port, address),
      thread_(port.thread()),
      watched_(run_.has(abi::kRunProfile) || run_.header().dump_count != 0),
      look_(std::max<std::uint64_t>(run_.watchdog_ticks() / kLooks, 1)),
      quiet_(kQuietLooks * look_),
      leaving_(kLooks / 4 * look_),
      link_(make_core_link(run_)),
      placement_(run_, cores_, *link_),
      queues_(run_) {}

void Scheduler::run() {
  if (begin()) loop();
  if (!cancelled_) end();
}

void Scheduler::loop() {
  quiet_since_ = port_.system_counter();
  deadline_ = quiet_since_ + look_;
  while (!stopped()) {
    bool moved = dispatch();
    if (!done_.empty()) {
      resolve_done();
      moved = true;
    }
    moved |= sweep();
    const bool wired = first() && wire_some();
    if (queues_.overflow()) fail(abi::RunStatus::kReadyOverflow, kNoTask);
    publish();
    if (moved) continue;
    if (wired) {
      // Wiring is no progress: a graph that is never wired to a task that can run is found, too.
      if (port_.system_counter() >= deadline_) look_around();
      continue;
    }
    enter(AicpuPhase::kIdle);
    if (finished()) return;
    if (!port_.poll_again(deadline_)) look_around();
  }
}

bool Scheduler::stopped() {
  stop_ = static_cast<Stop>(run_.load32(run_.control(scratch::kStop)));
  return stop_ != Stop::kNone;
}

ThreadProgress Scheduler::progress_of(unsigned thread) {
  ThreadProgress progress;
  const std::uint64_t line = run_.thread_line(scratch::kProgress, thread);
  const std::uint64_t counts = port_.load(line, 8);
  progress.completed = static_cast<std::uint32_t>(counts);
  progress.lanes = static_cast<std::uint32_t>(counts >> 32);
  const std::uint64_t idle = port_.load(line + offsetof(ThreadProgress, idle_aic), 4);
  progress.idle_aic = static_cast<std::uint16_t>(idle);
  progress.idle_aiv = static_cast<std::uint16_t>(idle >> 16);
  return progress;
}

// All tasks have ended, and so nothing is on a core or in a queue.
bool Scheduler::finished() {
  std::uint32_t completed = completed_;
  for (unsigned i = 0; i < run_.header().threads; ++i) {
    if (i != thread_) completed += progress_of(i).completed;
  }
  return completed == run_.header().tasks;
}

void Scheduler::publish() {
  if (run_.header().threads == 1) return;
  const std::uint64_t line = run_.thread_line(scratch::kProgress, thread_);
  if (published_.completed != completed_ || published_.lanes != lanes_) {
    published_.completed = completed_;
    published_.lanes = lanes_;
    port_.store(line, 8, completed_ | std::uint64_t{lanes_} << 32);
  }
  const auto aic = static_cast<std::uint16_t>(cores_.idle(abi::TaskShape::kAic));
  const auto aiv = static_cast<std::uint16_t>(cores_.idle(abi::TaskShape::kAiv));
  if (published_.idle_aic == aic && published_.idle_aiv == aiv) return;
  published_.idle_aic = aic;
  published_.idle_aiv = aiv;
  port_.store(line + offsetof(ThreadProgress, idle_aic), 4, aic | std::uint32_t{aiv} << 16);
}

// The first failure is the run's; all threads leave their loops.
void Scheduler::fail(abi::RunStatus status, std::uint32_t task, const Worker* worker,
                     std::uint32_t detail, std::uint32_t cond, std::uint32_t block) {
  stop_ = Stop::kFailed;
  const auto failed = static_cast<std::uint32_t>(Stop::kFailed);
  const std::uint64_t before = port_.compare_exchange(run_.control(scratch::kStop), 4, 0, failed);
  if (before != 0) {
    stop_ = static_cast<Stop>(before);  // what the others go by
    return;
  }
  abi::RunResult failure;
  failure.status = static_cast<std::uint32_t>(status);
  failure.task = task;
  failure.detail = detail;
  failure.cond = cond;
  if (worker != nullptr) {
    failure.worker = worker->index;
    failure.physical_core = worker->physical;
  }
  port_.write(run_.control(scratch::kFailedBlock), &block, sizeof block);
  port_.write(run_.control(scratch::kFailure), &failure, offsetof(abi::RunResult, started));
}

}  // namespace npu::firmware

NPU_PROGRAM_ENTRY int npu_aicpu_main(npu::platform::AicpuPort& port) {
  using namespace npu::firmware;
  // Every thread comes to the same verdict; thread 0 reports it.
  const RunView run(port, port.arguments());
  if (port.thread() != 0 && port.thread() >= run.header().threads) return 0;
  if (!header_is_valid(run.header(), port.threads())) {
    if (port.thread() != 0 || run.header().result == 0) return run.header().result == 0 ? 1 : 0;
    npu::abi::RunResult result;
    result.status = static_cast<std::uint32_t>(npu::abi::RunStatus::kBadHeader);
    port.write(run.header().result, &result, sizeof result);
    port.barrier();
    return 0;
  }
  Scheduler(port, port.arguments()).run();
  return 0;
}
