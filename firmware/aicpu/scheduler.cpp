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
      thread_(port.thread()),
      here_(port, address),
      cores_(here_.run),
      copies_(here_.run, here_.phase, here_.progress),
      dispatcher_(here_.run, cores_.cores, *cores_.link, here_.progress),
      ready_(here_.run, cores_.cores, dispatcher_.queues(), copies_),
      wiring_(here_.run, cores_.cores, ready_, here_.stop, here_.phase),
      completion_(here_, cores_, ready_, copies_),
      watchdog_(here_, cores_),
      outcome_(here_.run) {}

void Scheduler::run() {
  if (begin()) loop();
  if (!cancelled_) end();
}

// The handshake; then every thread opens its own cores.
bool Scheduler::begin() {
  here_.phase.enter(AicpuPhase::kHandshake);
  if (first()) outcome_.note_started();
  const auto there = static_cast<std::uint32_t>(Presence::kThere);
  if (port_.compare_exchange(here_.run.thread_line(scratch::kPresence, thread_), 4, 0, there) !=
      0) {
    cancelled_ = true;  // too late: thread 0 has ended the run
    return false;
  }
  RollCall roll_call(here_.run, here_.times.quiet, here_.stop);
  if (first() ? !roll_call.greet() : !roll_call.await_greeted()) return false;
  cores_.cores.deal(here_.run, thread_, *cores_.link);
  dealt_ = true;
  ready_.begin();
  const bool opened = open_cores();
  if (first()) outcome_.note_handshaken();
  return opened;
}

bool Scheduler::open_cores() {
  for (const auto& worker : cores_.cores.workers()) cores_.link->open(worker);
  port_.barrier();
  for (const auto& worker : cores_.cores.workers()) {
    const std::uint64_t deadline = here_.run.in(here_.times.quiet);
    while (!cores_.link->answered(worker)) {
      if (port_.poll_again(deadline)) continue;
      here_.stop.fail(abi::RunStatus::kCoreMissing, kNoTask, &worker, 0, cores_.link->cond(worker));
      return false;
    }
    start_pmu(here_.run, worker);
  }
  here_.progress.publish(cores_.cores);
  return true;
}

void Scheduler::loop() {
  watchdog_.begin();
  while (!here_.stop.look()) {
    bool moved = dispatcher_.dispatch();
    if (!ready_.skipped().empty()) {
      completion_.resolve_skipped();
      moved = true;
    }
    moved |= completion_.sweep();
    const bool wired = first() && wiring_.wire_some();
    if (dispatcher_.queues().overflow()) here_.stop.fail(abi::RunStatus::kReadyOverflow, kNoTask);
    here_.progress.publish(cores_.cores);
    if (moved) continue;
    if (wired) {
      // Wiring is no progress: a graph that is never wired to a task that can run is found, too.
      if (port_.system_counter() >= watchdog_.deadline()) watchdog_.look_around();
      continue;
    }
    here_.phase.enter(AicpuPhase::kIdle);
    if (here_.progress.all_ended()) return;
    if (!port_.poll_again(watchdog_.deadline())) watchdog_.look_around();
  }
}

// All cores are sent away, good run or bad; the result is written last.
void Scheduler::end() {
  if (first()) outcome_.note_finished(wiring_.ended());
  if (here_.stop.why() == Stop::kTimeout) {
    Diagnosis diagnosis(here_, cores_, dispatcher_.queues(), wiring_, outcome_.result());
    if (first()) {
      diagnosis.make();
    } else {
      diagnosis.report();
    }
  }
  here_.phase.enter(AicpuPhase::kDrain);
  Dismissal dismissal(here_.run, here_.times, *cores_.link, here_.stop);
  if (dealt_) dismissal.dismiss(cores_.cores);
  const Progress::Totals totals{dispatcher_.rung(), completion_.polls(), copies_.ticks()};
  if (first()) {
    dismissal.await_others(dealt_);
    return outcome_.write(here_.stop, here_.progress, totals);
  }
  here_.progress.leave(totals);
  port_.barrier();
  here_.run.store32(here_.run.thread_line(scratch::kPresence, thread_),
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
