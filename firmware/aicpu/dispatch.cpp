// SPDX-License-Identifier: Apache-2.0
// From ready tasks to cores: idle cores first, then the pending slots of busy ones.
#include <algorithm>

#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

using abi::TaskShape;

void Scheduler::make_any_ready(std::uint32_t task, TaskKind kind) {
  const TaskShape shape = kind.shape();
  if (shape == TaskShape::kNone || (kind.predicated() && is_skipped(task))) {
    done_.push_back(task);
    return;
  }
  if (watched_) note_ready(task);
  unsigned room = shape == TaskShape::kMixed ? cores_.idle_clusters() : cores_.idle(shape);
  // A coupled core is idle for tasks of every class, and takes one of them.
  if (cores_.counts().lanes == 1) {
    room -= std::min(room, queues_.local_of_others(kind.ready_class()));
  }
  queues_.push(task, kind, room);
}

void Scheduler::note_ready(std::uint32_t task) {
  if (run_.has(abi::kRunProfile)) {
    port_.store(run_.task(task, offsetof(TaskState, ready_at)), 8, port_.system_counter());
  }
  if (run_.header().dump_count != 0) dump(task, abi::DumpStage::kBeforeDispatch);
}

bool Scheduler::is_skipped(std::uint32_t task) {
  const std::uint64_t word =
      port_.load(run_.descriptor(task) + offsetof(abi::TaskDescriptor, predicate), 8);
  // A core's end may be known before its write has dropped the line here; DMA may never drop it.
  port_.invalidate(word, 4);
  return port_.load(word, 4) == 0;
}

bool Scheduler::dispatch() {
  const bool news = queues_.look_for_news();
  bool moved =
      (news || together_.open != 0 || !queues_.none(ReadyClass::kTogether)) && dispatch_together();
  if (!held_back(TaskShape::kMixed)) moved |= dispatch_mixed();
  for (const auto shape : {TaskShape::kAic, TaskShape::kAiv}) {
    if (!held_back(shape)) moved |= dispatch_single(shape);
  }
  placement_.ring();
  return moved;
}

bool Scheduler::dispatch_mixed() {
  if (!queues_.any(ReadyClass::kMixed)) {
    cores_.hold_cluster(false);
    return false;
  }
  bool moved = false;
  Share share;
  while (queues_.take(ReadyClass::kMixed, cores_.idle_clusters(), 0, share)) {
    placement_.begin(share);
    for (std::uint32_t i = 0; i < share.count; ++i) {
      placement_.place(share.first + i, *cores_.next_idle_cluster());
    }
    moved = true;
  }
  cores_.hold_cluster(queues_.any(ReadyClass::kMixed));
  return moved;
}

bool Scheduler::dispatch_single(TaskShape shape) {
  const ReadyClass cls = shape == TaskShape::kAic ? ReadyClass::kAic : ReadyClass::kAiv;
  if (queues_.none(cls)) return false;
  bool moved = false;
  Share share;
  while (queues_.take(cls, cores_.idle(shape), 0, share)) {
    place(share, cores_.idle_cores(shape));
    moved = true;
  }
  // Tasks of its own whose cores mixed blocks have taken are better off there.
  if (queues_.local(cls) > 0 && idle_elsewhere(shape) > 0) queues_.give_back(cls);
  for (;;) {
    const unsigned pendable = cores_.pendable(shape);
    // What idle cores of other threads will take at once is theirs.
    if (pendable == 0 || !queues_.take(cls, pendable, idle_elsewhere(shape), share)) return moved;
    place(share, cores_.pendable_cores(shape));
    moved = true;
  }
}

void Scheduler::place(const Share& share, const WorkerSet& cores) {
  placement_.begin(share);
  for (std::uint32_t i = 0; i < share.count; ++i) {
    placement_.place(share.first + i, cores_.next(cores));
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

}  // namespace npu::firmware
