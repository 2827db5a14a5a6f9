// SPDX-License-Identifier: Apache-2.0
// The end of a run, good or bad: all cores are sent away, for a bounded time, and thread 0 writes
// the result when the other threads are through.
#include "firmware/aicpu/pmu.hpp"
#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

void Scheduler::end() {
  if (first()) {
    result_.finished = port_.system_counter();
    result_.wired = wired_at_;
    if (stop_ == Stop::kTimeout) diagnose();
  } else if (stop_ == Stop::kTimeout) {
    report_standstill();
  }
  enter(AicpuPhase::kDrain);
  if (dealt_) dismiss(cores_);
  if (first()) {
    await_others();
    return write_result();
  }
  ThreadProgress progress = published_;
  progress.completed = completed_;
  progress.lanes = lanes_;
  progress.dispatched = placement_.rung();
  progress.polls = polls_;
  progress.copied = copied_;
  progress.dump_ticks = dump_ticks_;
  port_.write(run_.thread_line(scratch::kProgress, thread_), &progress, sizeof progress);
  port_.barrier();
  run_.store32(run_.thread_line(scratch::kPresence, thread_),
               static_cast<std::uint32_t>(Presence::kGone));
}

// A core that does not leave within its time is left where it is. If the watchdog has run out there
// is none left to give: what hangs has had it.
void Scheduler::dismiss(Cores& cores) {
  for (const auto& worker : cores.workers()) link_->dismiss(worker);
  port_.barrier();
  const std::uint64_t deadline = in(stop_ == Stop::kTimeout ? 2 * look_ : leaving_);
  for (const auto& worker : cores.workers()) {
    while (!link_->left(worker)) {
      link_->urge(worker);
      if (!port_.poll_again(deadline)) break;
    }
    stop_pmu(run_, worker);
    link_->close(worker);
  }
  port_.barrier();
}

void Scheduler::await_others() {
  const auto absent = static_cast<std::uint32_t>(Presence::kAbsent);
  const auto cancelled = static_cast<std::uint32_t>(Presence::kCancelled);
  const std::uint64_t deadline = in(stop_ == Stop::kTimeout ? 3 * look_ : 8 * leaving_);
  if (!dealt_) take_over(0);
  for (unsigned i = 1; i < run_.header().threads; ++i) {
    const std::uint64_t line = run_.thread_line(scratch::kPresence, i);
    const bool came = port_.compare_exchange(line, 4, absent, cancelled) != absent;
    if (!came || !dealt_) take_over(i);
    while (came && run_.load32(line) != static_cast<std::uint32_t>(Presence::kGone)) {
      if (!port_.poll_again(deadline)) break;
    }
  }
}

// Sends away the cores of a thread that has never had them.
void Scheduler::take_over(unsigned thread) {
  if (run_.load32(run_.control(scratch::kCoresKnown)) == 0) return;
  Cores cores;
  cores.deal(run_, thread, *link_);
  for (const auto& worker : cores.workers()) link_->open(worker);
  dismiss(cores);
}

void Scheduler::write_result() {
  if (stop_ == Stop::kFailed) {
    port_.read(run_.control(scratch::kFailure), &result_, offsetof(abi::RunResult, started));
    port_.read(run_.control(scratch::kFailedBlock), &result_.block, sizeof result_.block);
    if (result_.status == static_cast<std::uint32_t>(abi::RunStatus::kOk)) {
      // The thread that failed has died before it could say of what.
      result_.status = static_cast<std::uint32_t>(abi::RunStatus::kTimeout);
      result_.reason = static_cast<std::uint32_t>(abi::StallReason::kOther);
    }
  } else if (stop_ == Stop::kNone) {
    result_.status = static_cast<std::uint32_t>(abi::RunStatus::kOk);
  }
  result_.completed = completed_;
  result_.dispatched_blocks = placement_.rung();
  result_.polls = polls_;
  result_.dump_ticks = dump_ticks_;
  for (unsigned i = 1; i < run_.header().threads; ++i) {
    ThreadProgress other;
    port_.read(run_.thread_line(scratch::kProgress, i), &other, sizeof other);
    result_.completed += other.completed;
    result_.dispatched_blocks += other.dispatched;
    result_.polls += other.polls;
    result_.dump_ticks += other.dump_ticks;
  }
  result_.ended = port_.system_counter();
  result_.counter_hz = port_.counter_hz();
  if (run_.header().result == 0) return;
  port_.write(run_.header().result, &result_, sizeof result_);
  port_.barrier();
}

}  // namespace npu::firmware
