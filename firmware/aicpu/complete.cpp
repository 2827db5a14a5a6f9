// SPDX-License-Identifier: Apache-2.0
// From cores to consumers.
#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

bool Scheduler::sweep() {
  bool moved = false;
  unsigned looks = 0;
  auto& workers = cores_.workers();
  for (unsigned i = cores_.next_at_work(0); i < workers.size(); i = cores_.next_at_work(i + 1)) {
    Worker& worker = workers[i];
    ++looks;
    const Look found = link_->look(worker);
    if (!found.changed) continue;
    moved = true;
    cores_.changed(worker);
    for (unsigned k = 0; k < found.count; ++k) ended(found.ended[k], worker);
  }
  // Not of rounds that find nothing: how many of them there are is the machine's business
  // (AicpuPort::poll_again).
  if (moved) polls_ += looks;
  return moved;
}

void Scheduler::ended(const Ended& ended, const Worker& worker) {
  const Assignment& what = ended.what;
  enter(AicpuPhase::kComplete, what.task);
  ++lanes_;
  if (what.record != 0) {
    port_.store(what.record + offsetof(abi::TaskRecord, seen), 8, port_.system_counter());
  }
  if (ended.result != static_cast<std::uint32_t>(abi::KernelResult::kOk)) {
    return fail_in(what, abi::RunStatus::kKernelFailed, worker, ended.result);
  }
  if (what.lanes > 1) {
    const std::uint64_t lanes = run_.task(what.task, offsetof(TaskState, lanes_done));
    if (port_.fetch_add(lanes, 4, 1) + 1 != what.lanes) return;
  }
  if (run_.header().dump_count != 0) dump(what.task, abi::DumpStage::kAfterCompletion);
  done_.push_back(what.task);
}

// What ends on the way (dependency-only and skipped tasks) has its turn in the next round.
void Scheduler::resolve_done() {
  const std::size_t count = done_.size();
  for (std::size_t i = 0; i < count; ++i) resolve(done_[i]);
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(count));
}

void Scheduler::resolve(std::uint32_t task) {
  enter(AicpuPhase::kComplete, task);
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
    if (static_cast<std::uint32_t>(before) + 1 == 0) make_ready(consumer, run_.kind(consumer));
  }
  ++completed_;
}

}  // namespace npu::firmware
