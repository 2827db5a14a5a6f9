// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/ready_tasks.hpp"

#include <algorithm>

namespace npu::firmware {

using abi::TaskShape;

void ReadyTasks::add_any(std::uint32_t task, TaskKind kind) {
  const TaskShape shape = kind.shape();
  if (shape == TaskShape::kNone || (kind.predicated() && is_skipped(task))) {
    skipped_.add(task);
    return;
  }
  if (watched_) note(task);
  unsigned room = shape == TaskShape::kMixed ? cores_.idle_clusters() : cores_.idle(shape);
  // A coupled core is idle for tasks of every class, and takes one of them.
  if (cores_.counts().lanes == 1) {
    room -= std::min(room, queues_.local_of_others(kind.ready_class()));
  }
  queues_.push(task, kind, room);
}

void ReadyTasks::note(std::uint32_t task) {
  if (run_.has(abi::kRunProfile)) {
    port_.store(run_.task(task, offsetof(TaskState, ready_at)), 8, port_.system_counter());
  }
  if (copies_.wanted()) copies_.take(task, abi::DumpStage::kBeforeDispatch);
}

bool ReadyTasks::is_skipped(std::uint32_t task) {
  const std::uint64_t word =
      port_.load(run_.descriptor(task) + offsetof(abi::TaskDescriptor, predicate), 8);
  // A core's end may be known before its write has dropped the line here; DMA may never drop it.
  port_.invalidate(word, 4);
  return port_.load(word, 4) == 0;
}

}  // namespace npu::firmware
