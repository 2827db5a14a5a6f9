// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/completion.hpp"

namespace npu::firmware {

bool Completion::sweep() {
  Cores& cores = cores_;
  CoreLink& link = link_;
  bool moved = false;
  unsigned looks = 0;
  for (unsigned i = cores.next_at_work(0); i != WorkerSet::kNone; i = cores.next_at_work(i + 1)) {
    Worker& worker = cores.workers()[i];
    const Seen seen = link.look(worker);
    ++looks;
    if (seen == Seen::kNothing) continue;
    moved = true;
    proceed(worker, seen);
  }
  // Not of rounds that find nothing: how many of them there are is the machine's business
  // (AicpuPort::poll_again).
  if (moved) polls_ += looks;
  return moved;
}

void Completion::proceed(Worker& worker, Seen seen) {
  const Assignment& oldest = worker.oldest();
  if (seen == Seen::kBegun) return cores_.change(worker, Work::kRunning);
  if (seen == Seen::kOldestEnded) {
    cores_.change(worker, Work::kSent);
  } else if (seen == Seen::kOldestEndedNewestBegun) {
    cores_.change(worker, Work::kRunning);
  } else {
    cores_.change(worker, Work::kNone);
  }
  ended(oldest, worker);
  if (seen == Seen::kBothEnded) ended(worker.newest(), worker);
}

void Completion::ended(const Assignment& what, const Worker& worker) {
  phase_.enter(AicpuPhase::kComplete, what.task);
  const std::uint32_t result = link_.result(worker, what);
  progress_.note_lane();
  if (what.record != 0) {
    port_.store(what.record + offsetof(abi::TaskRecord, seen), 8, port_.system_counter());
  }
  if (result != static_cast<std::uint32_t>(abi::KernelResult::kOk)) {
    return stop_.fail_in(what, abi::RunStatus::kKernelFailed, worker, result);
  }
  if (what.lanes > 1) {
    const std::uint64_t lanes = run_.task(what.task, offsetof(TaskState, lanes_done));
    if (port_.fetch_add(lanes, 4, 1) + 1 != what.lanes) return;
  }
  if (copies_.wanted()) copies_.take(what.task, abi::DumpStage::kAfterCompletion);
  resolve(what.task);
}

void Completion::resolve_skipped() {
  ready_.skipped().take([this](std::uint32_t task) {
    phase_.enter(AicpuPhase::kComplete, task);
    resolve(task);
  });
}

void Completion::resolve(std::uint32_t task) {
  const std::uint64_t list = run_.task(task, offsetof(TaskState, successors));
  std::uint32_t seen = 0;
  for (;;) {
    const auto now = static_cast<std::uint32_t>(port_.compare_exchange(list, 4, seen, kClosed));
    if (now == seen) break;
    seen = now;
  }
  while (seen != 0) {
    const std::uint64_t edge = port_.load(run_.edge(seen - 1), 8);
    const auto consumer = static_cast<std::uint32_t>(edge);
    seen = static_cast<std::uint32_t>(edge >> 32);
    const std::uint64_t before =
        port_.fetch_add(run_.task(consumer, offsetof(TaskState, arrived)), 4, 1);
    if (static_cast<std::uint32_t>(before) + 1 == 0) ready_.add(consumer, run_.kind(consumer));
  }
  progress_.note_task();
}

}  // namespace npu::firmware
