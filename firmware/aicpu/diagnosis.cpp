// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/diagnosis.hpp"

namespace npu::firmware {

using abi::StallReason;

Diagnosis::Standstill Diagnosis::standstill() const {
  Standstill found;
  for (const auto& worker : cores_.workers()) {
    if (!worker.busy() || worker.reserved) continue;
    found.running += worker.work == Work::kRunningAndSent ? 2U : 1U;
    if (found.task != kNoTask) continue;
    const Assignment& what = worker.oldest();
    found.task = what.task;
    found.block = what.block;
    found.worker = worker.index;
    found.physical = worker.physical;
    found.cond = link_.cond(worker);
  }
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    found.ready += queues_.local(static_cast<ReadyClass>(c));
  }
  found.ready_task = queues_.any_local();
  found.reported = 1;
  return found;
}

void Diagnosis::report() const {
  const Standstill found = standstill();
  port_.write(run_.thread_line(scratch::kDiagnosis, port_.thread()), &found, sizeof found);
}

// Threads that do not answer before the next look would be are left out.
Diagnosis::Standstill Diagnosis::standstill_of_all() const {
  Standstill sum = standstill();
  const std::uint64_t deadline = run_.in(times_.look);
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
      static_cast<std::uint32_t>(port_.load(run_.control(scratch::kCooperative), 8) >> 32);
  if (open != 0) {
    ++sum.ready;
    sum.ready_task = open - 1;
  }
  for (unsigned c = 0; c < kReadyClasses; ++c) {
    sum.ready += queues_.shared(static_cast<ReadyClass>(c));
  }
  if (sum.ready_task == kNoTask && sum.ready > 0) sum.ready_task = queues_.any_shared();
  return sum;
}

void Diagnosis::make() {
  const Standstill sum = standstill_of_all();
  result_.running = sum.running;
  result_.ready = sum.ready;
  result_.status = static_cast<std::uint32_t>(abi::RunStatus::kTimeout);
  result_.task = sum.running > 0 ? sum.task : sum.ready_task;
  result_.block = sum.running > 0 ? sum.block : kNoBlock;
  result_.worker = sum.worker;
  result_.physical_core = sum.physical;
  result_.cond = sum.cond;
  result_.unwired = run_.header().tasks - wiring_.next();
  blame_waiting();
  result_.reason = static_cast<std::uint32_t>(sum.running > 0       ? StallReason::kRunning
                                              : sum.ready > 0       ? StallReason::kReady
                                              : result_.unwired > 0 ? StallReason::kOrchestrator
                                              : result_.waiting > 0 ? StallReason::kWaiting
                                                                    : StallReason::kOther);
}

// Wired, and neither ready nor ended: its producers have not all ended.
bool Diagnosis::is_waiting(std::uint32_t task) const {
  return run_.load32(run_.task(task, offsetof(TaskState, kind))) != 0 &&
         run_.load32(run_.task(task, offsetof(TaskState, arrived))) != 0 &&
         run_.load32(run_.task(task, offsetof(TaskState, successors))) != kClosed;
}

std::uint32_t Diagnosis::open_producer(std::uint32_t task) const {
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
void Diagnosis::blame_waiting() {
  std::uint32_t first = kNoTask;
  for (std::uint32_t task = 0; task < wiring_.next(); ++task) {
    if (!is_waiting(task)) continue;
    ++result_.waiting;
    if (first == kNoTask) first = task;
  }
  if (result_.running > 0 || result_.ready > 0) return;
  if (result_.unwired > 0) result_.task = wiring_.next();
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
