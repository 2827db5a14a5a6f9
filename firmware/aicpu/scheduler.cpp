// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/scheduler.hpp"

#include "firmware/aicpu/diagnosis.hpp"
#include "firmware/aicpu/dismissal.hpp"
#include "firmware/aicpu/pmu.hpp"
#include "firmware/aicpu/roll_call.hpp"
#include "firmware/program.hpp"

namespace npu::firmware {

Scheduler::Scheduler(AicpuPort& port, std::uint64_t address)
    : port_(port),
      run_(port, address),
      times_(run_),
      thread_(port.thread()),
      stop_(run_),
      phase_(port),
      link_(make_core_link(run_)),
      progress_(run_),
      copies_(run_, phase_, progress_),
      dispatcher_(run_, cores_, *link_, progress_),
      ready_(run_, cores_, dispatcher_.queues(), copies_),
      wiring_(run_, cores_, ready_, stop_, phase_),
      completion_(run_, cores_, *link_, ready_, copies_, progress_, stop_, phase_),
      watchdog_(run_, times_, cores_, *link_, progress_, stop_),
      outcome_(run_) {}

void Scheduler::run() {
  if (begin()) loop();
  if (!cancelled_) end();
}

// The handshake; then every thread opens its own cores.
bool Scheduler::begin() {
  phase_.enter(AicpuPhase::kHandshake);
  if (first()) outcome_.note_started();
  const auto there = static_cast<std::uint32_t>(Presence::kThere);
  if (port_.compare_exchange(run_.thread_line(scratch::kPresence, thread_), 4, 0, there) != 0) {
    cancelled_ = true;  // too late: thread 0 has ended the run
    return false;
  }
  RollCall roll_call(run_, times_.quiet, stop_);
  if (first() ? !roll_call.greet() : !roll_call.await_greeted()) return false;
  cores_.deal(run_, thread_, *link_);
  dealt_ = true;
  ready_.begin();
  const bool opened = open_cores();
  if (first()) outcome_.note_handshaken();
  return opened;
}

bool Scheduler::open_cores() {
  for (const auto& worker : cores_.workers()) link_->open(worker);
  port_.barrier();
  for (const auto& worker : cores_.workers()) {
    const std::uint64_t deadline = run_.in(times_.quiet);
    while (!link_->answered(worker)) {
      if (port_.poll_again(deadline)) continue;
      stop_.fail(abi::RunStatus::kCoreMissing, kNoTask, &worker, 0, link_->cond(worker));
      return false;
    }
    start_pmu(run_, worker);
  }
  progress_.publish(cores_);
  return true;
}

void Scheduler::loop() {
  watchdog_.begin();
  while (!stop_.look()) {
    bool moved = dispatcher_.dispatch();
    if (!ready_.skipped().empty()) {
      completion_.resolve_skipped();
      moved = true;
    }
    moved |= completion_.sweep();
    const bool wired = first() && wiring_.wire_some();
    if (dispatcher_.queues().overflow()) stop_.fail(abi::RunStatus::kReadyOverflow, kNoTask);
    progress_.publish(cores_);
    if (moved) continue;
    if (wired) {
      // Wiring is no progress: a graph that is never wired to a task that can run is found, too.
      if (port_.system_counter() >= watchdog_.deadline()) watchdog_.look_around();
      continue;
    }
    phase_.enter(AicpuPhase::kIdle);
    if (progress_.all_ended()) return;
    if (!port_.poll_again(watchdog_.deadline())) watchdog_.look_around();
  }
}

// All cores are sent away, good run or bad; the result is written last.
void Scheduler::end() {
  if (first()) outcome_.note_finished(wiring_.ended());
  if (stop_.why() == Stop::kTimeout) {
    Diagnosis diagnosis(run_, times_, cores_, *link_, dispatcher_.queues(), wiring_,
                        outcome_.result());
    if (first()) {
      diagnosis.make();
    } else {
      diagnosis.report();
    }
  }
  phase_.enter(AicpuPhase::kDrain);
  Dismissal dismissal(run_, times_, *link_, stop_);
  if (dealt_) dismissal.dismiss(cores_);
  const Progress::Totals totals{dispatcher_.rung(), completion_.polls(), copies_.ticks()};
  if (first()) {
    dismissal.await_others(dealt_);
    return outcome_.write(stop_, progress_, totals);
  }
  progress_.leave(totals);
  port_.barrier();
  run_.store32(run_.thread_line(scratch::kPresence, thread_),
               static_cast<std::uint32_t>(Presence::kGone));
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
