// SPDX-License-Identifier: Apache-2.0
// A run in which no task ends any more: looked at several times in the watchdog's time, and given
// up so early that the result is written when it is over. The diagnosis goes in the order running,
// ready, wiring not finished, waiting (runtime.md A7, where waiting comes before: here the
// waiting may be for what is not wired yet).
#include <algorithm>

#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::StallReason;

// Of this thread; of all, for thread 0. Copies of tensors count, which may take longer than a task.
std::uint64_t Scheduler::progress() {
  std::uint64_t progress = std::uint64_t{completed_} + lanes_ + copied_;
  for (unsigned i = 1; first() && i < run_.header().threads; ++i) {
    const auto other = progress_of(i);
    progress += std::uint64_t{other.completed} + other.lanes;
    if (run_.header().dump_count == 0) continue;
    const std::uint64_t line = run_.thread_line(scratch::kProgress, i);
    progress += run_.load32(line + offsetof(ThreadProgress, copied));
  }
  return progress;
}

void Scheduler::look_around() {
  const std::uint64_t now = port_.system_counter();
  const std::uint64_t seen = progress();
  if (seen != seen_progress_) {
    seen_progress_ = seen;
    quiet_since_ = now;
    deadline_ = now + look_;
    return;
  }
  check_exceptions();
  if (first() && deadline_ >= quiet_since_ + quiet_) {
    const auto timeout = static_cast<std::uint32_t>(Stop::kTimeout);
    port_.compare_exchange(run_.control(scratch::kStop), 4, 0, timeout);
  }
  // From when it was due, or the delays of all looks would add up.
  deadline_ = std::max(deadline_, now - std::min(look_, now)) + look_;
}

void Scheduler::check_exceptions() {
  for (auto& worker : cores_.workers()) {
    if (!worker.busy() || worker.reserved) continue;
    const std::uint32_t code = link_->exception(worker);
    if (code == 0) continue;
    const Assignment& what = worker.oldest();
    return fail_in(what, abi::RunStatus::kCoreException, worker, code, link_->cond(worker));
  }
}

Scheduler::Standstill Scheduler::standstill() {
  Standstill found;
  for (auto& worker : cores_.workers()) {
    if (!worker.busy() || worker.reserved) continue;
    found.running += worker.work == Work::kRunningAndSent ? 2U : 1U;
    if (found.task != kNoTask) continue;
    const Assignment& what = worker.oldest();
    found.task = what.task;
    found.block = what.block;
    found.worker = worker.index;
    found.physical = worker.physical;
    found.cond = link_->cond(worker);
  }
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    found.ready += queues_.local(static_cast<ReadyClass>(c));
  }
  found.ready_task = queues_.any_local();
  found.reported = 1;
  return found;
}

void Scheduler::report_standstill() {
  const Standstill found = standstill();
  port_.write(run_.thread_line(scratch::kDiagnosis, thread_), &found, sizeof found);
}

// Thread 0. Threads that do not answer before the next look would be are left out.
void Scheduler::diagnose() {
  Standstill sum = standstill();
  const std::uint64_t deadline = in(look_);
  for (unsigned i = 1; i < run_.header().threads; ++i) {
    const std::uint64_t line = run_.thread_line(scratch::kDiagnosis, i);
    while (run_.load32(line) == 0 && port_.poll_again(deadline)) continue;
    Standstill other;
    port_.read(line, &other, sizeof other);
    if (other.reported == 0) continue;
    if (sum.running == 0) {
      sum.task = other.task;
      sum.block = other.block;
      sum.worker = other.worker;
      sum.physical = other.physical;
      sum.cond = other.cond;
    }
    if (sum.ready_task == kNoTask) sum.ready_task = other.ready_task;
    sum.running += other.running;
    sum.ready += other.ready;
  }
  const auto open =
      static_cast<std::uint32_t>(port_.load(run_.control(scratch::kTogether), 8) >> 32);
  if (open != 0) {
    ++sum.ready;
    sum.ready_task = open - 1;
  }
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    sum.ready += queues_.shared(static_cast<ReadyClass>(c));
  }
  if (sum.ready_task == kNoTask && sum.ready > 0) sum.ready_task = queues_.any_shared();
  result_.running = sum.running;
  result_.ready = sum.ready;
  result_.status = static_cast<std::uint32_t>(abi::RunStatus::kTimeout);
  result_.task = sum.running > 0 ? sum.task : sum.ready_task;
  result_.block = sum.running > 0 ? sum.block : kNoBlock;
  result_.worker = sum.worker;
  result_.physical_core = sum.physical;
  result_.cond = sum.cond;
  result_.unwired = run_.header().tasks - next_to_wire_;
  blame_waiting();
  result_.reason = static_cast<std::uint32_t>(sum.running > 0       ? StallReason::kRunning
                                              : sum.ready > 0       ? StallReason::kReady
                                              : result_.unwired > 0 ? StallReason::kOrchestrator
                                              : result_.waiting > 0 ? StallReason::kWaiting
                                                                    : StallReason::kOther);
}

// Wired, and neither ready nor ended: its producers have not all ended.
bool Scheduler::is_waiting(std::uint32_t task) {
  return run_.load32(run_.task(task, offsetof(TaskState, kind))) != 0 &&
         run_.load32(run_.task(task, offsetof(TaskState, arrived))) != 0 &&
         run_.load32(run_.task(task, offsetof(TaskState, successors))) != kClosed;
}

std::uint32_t Scheduler::open_producer(std::uint32_t task) {
  const abi::TaskDescriptor descriptor = run_.read_descriptor(task);
  for (std::uint32_t i = 0; i < descriptor.producers; ++i) {
    const auto producer =
        run_.load32(run_.header().producers + (std::uint64_t{descriptor.first_producer} + i) * 4);
    const std::uint64_t list = run_.task(producer, offsetof(TaskState, successors));
    if (run_.load32(list) != kClosed) return producer;
  }
  return kNoTask;
}

// From the first task that waits along open producers: to a task of a cycle, or to one that waits
// for a task that is ready or runs. If not all are wired, the first that is not.
void Scheduler::blame_waiting() {
  std::uint32_t first = kNoTask;
  for (std::uint32_t task = 0; task < next_to_wire_; ++task) {
    if (!is_waiting(task)) continue;
    ++result_.waiting;
    if (first == kNoTask) first = task;
  }
  if (result_.running > 0 || result_.ready > 0) return;
  if (result_.unwired > 0) result_.task = next_to_wire_;
  if (first == kNoTask || result_.unwired > 0) return;
  std::uint32_t task = first;
  for (;;) {
    result_.task = task;
    result_.waits_for = open_producer(task);
    const std::uint64_t mark = run_.task(task, offsetof(TaskState, mark));
    if (result_.waits_for == kNoTask || run_.load32(mark) != 0) return;
    run_.store32(mark, 1);
    if (!is_waiting(result_.waits_for)) return;
    task = result_.waits_for;
  }
}

}  // namespace npu::firmware
