// SPDX-License-Identifier: Apache-2.0
// From ready tasks to cores: idle cores first, then the pending slots of busy ones.
#include <algorithm>

#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::TaskShape;

void Scheduler::make_ready(std::uint32_t task, const TaskKind& kind) {
  if (kind.shape == TaskShape::kNone || is_skipped(task, kind)) {
    done_.push_back(task);
    return;
  }
  if (run_.has(abi::kRunProfile)) {
    port_.store(run_.task(task, offsetof(TaskState, ready_at)), 8, port_.system_counter());
  }
  if (run_.header().dump_count != 0) dump(task, abi::DumpStage::kBeforeDispatch);
  unsigned room =
      kind.shape == TaskShape::kMixed ? cores_.idle_clusters() : cores_.idle(kind.shape);
  // A coupled core is idle for tasks of every class, and takes one of them.
  if (cores_.counts().lanes == 1) room -= std::min(room, queues_.local_of_others(class_of(kind)));
  queues_.push(task, kind, room);
}

bool Scheduler::is_skipped(std::uint32_t task, const TaskKind& kind) {
  if (!kind.predicated) return false;
  const std::uint64_t word =
      port_.load(run_.descriptor(task) + offsetof(abi::TaskDescriptor, predicate), 8);
  // A core's end may be known before its write has dropped the line here; DMA may never drop it.
  port_.invalidate(word, 4);
  return port_.load(word, 4) == 0;
}

bool Scheduler::dispatch() {
  bool moved = dispatch_together();
  if (!held_back(TaskShape::kMixed)) moved |= dispatch_mixed();
  for (const auto shape : {TaskShape::kAic, TaskShape::kAiv}) {
    if (!held_back(shape)) moved |= dispatch_single(shape);
  }
  if (!placed_.empty()) ring_placed();
  return moved;
}

bool Scheduler::dispatch_mixed() {
  if (cores_.counts().mixed == 0) return false;
  bool moved = false;
  Share share;
  while (queues_.take(ReadyClass::kMixed, cores_.idle_clusters(), 0, share)) {
    const auto task = run_.read_descriptor(share.task);
    for (std::uint32_t i = 0; i < share.count; ++i) {
      place(share, share.first + i, task, *cores_.next_idle_cluster());
    }
    moved = true;
  }
  const bool waiting =
      queues_.local(ReadyClass::kMixed) > 0 || queues_.shared(ReadyClass::kMixed) > 0;
  cores_.hold_cluster(waiting);
  return moved;
}

bool Scheduler::dispatch_single(TaskShape shape) {
  const ReadyClass cls = shape == TaskShape::kAic ? ReadyClass::kAic : ReadyClass::kAiv;
  bool moved = false;
  Share share;
  while (queues_.take(cls, cores_.idle(shape), 0, share)) {
    const auto task = run_.read_descriptor(share.task);
    for (std::uint32_t i = 0; i < share.count; ++i) {
      place(share, share.first + i, task, *cores_.next_idle(shape), 0);
    }
    moved = true;
  }
  // Tasks of its own whose cores mixed blocks have taken are better off there.
  if (queues_.local(cls) > 0 && idle_elsewhere(shape) > 0) queues_.give_back(cls);
  for (;;) {
    const unsigned pendable = cores_.pendable(shape);
    // What idle cores of other threads will take at once is theirs.
    if (pendable == 0 || !queues_.take(cls, pendable, idle_elsewhere(shape), share)) return moved;
    const auto task = run_.read_descriptor(share.task);
    for (std::uint32_t i = 0; i < share.count; ++i) {
      place(share, share.first + i, task, *cores_.next_pendable(shape), 0);
    }
    moved = true;
  }
}

unsigned Scheduler::idle_elsewhere(TaskShape shape) {
  unsigned idle = 0;
  for (unsigned i = 0; i < run_.header().threads; ++i) {
    if (i == thread_) continue;
    const auto progress = progress_of(i);
    idle += shape == TaskShape::kAic ? progress.idle_aic : progress.idle_aiv;
  }
  return idle;
}

void Scheduler::place(const Share& share, std::uint32_t block, const abi::TaskDescriptor& task,
                      const Cluster& cluster) {
  for (std::uint32_t role = 0; role < cluster.workers.size(); ++role) {
    place(share, block, task, *cluster.workers[role], role);
  }
}

void Scheduler::place(const Share& share, std::uint32_t block, const abi::TaskDescriptor& task,
                      Worker& worker, std::uint32_t role) {
  enter(AicpuPhase::kDispatch, share.task);
  // Ids alternate between the two payloads; the one used here was that of a block that has ended.
  const std::uint32_t last = worker.last_dispatch;
  worker.last_dispatch = last == abi::DataMainBase::kMaxId ? 2 : last + 1;
  worker.sent.used = true;
  worker.sent.dispatch = worker.last_dispatch;
  worker.sent.task = share.task;
  worker.sent.block = block;
  worker.sent.lanes =
      share.kind.blocks * (share.kind.shape == TaskShape::kMixed ? cores_.counts().lanes : 1);
  worker.sent.record = run_.has(abi::kRunProfile) ? open_record(share, block, worker) : 0;

  abi::DispatchPayload payload;
  payload.kernel = task.kernel;
  payload.arguments = task.arguments;
  payload.words = task.words;
  payload.block = block;
  payload.blocks = task.blocks;
  payload.task = share.task;
  payload.role = role;
  payload.dispatch = worker.last_dispatch;
  payload.record = worker.sent.record;
  port_.write(run_.payload(worker.index, worker.last_dispatch), &payload, sizeof payload);
  placed_.push_back(&worker);
  cores_.changed(worker);
}

// Before the core is told; then the core writes to it, then `seen` is written.
std::uint64_t Scheduler::open_record(const Share& share, std::uint32_t block,
                                     const Worker& worker) {
  const std::uint64_t index = port_.fetch_add(run_.control(scratch::kRecords), 8, 1);
  if (index >= run_.header().record_count) return 0;
  const std::uint64_t address = run_.header().records + index * sizeof(abi::TaskRecord);
  abi::TaskRecord record;
  record.task = share.task;
  record.block = block;
  record.worker = worker.index;
  record.dispatch = worker.last_dispatch;
  record.ready = port_.load(run_.task(share.task, offsetof(TaskState, ready_at)), 8);
  record.sent = port_.system_counter();
  record.thread = thread_;
  record.physical_core = worker.physical;
  port_.write(address, &record, sizeof record);
  return address;
}

// One barrier for all payloads; then the stores to the cores leave in a burst.
void Scheduler::ring_placed() {
  port_.barrier();
  for (const auto* worker : placed_) link_->ring(*worker);
  dispatched_ += placed_.size();
  placed_.clear();
}

}  // namespace npu::firmware
