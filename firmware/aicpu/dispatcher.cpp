// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/dispatcher.hpp"

namespace npu::firmware {

using abi::TaskShape;

bool Dispatcher::dispatch() {
  const bool news = queues_.look_for_news();
  bool moved = (news || cooperative_.is_open() || !queues_.none(ReadyClass::kCooperative)) &&
               cooperative_.dispatch();
  if (!cooperative_.holds_back(TaskShape::kMixed)) moved |= dispatch_mixed();
  for (const auto shape : {TaskShape::kAic, TaskShape::kAiv}) {
    if (!cooperative_.holds_back(shape)) moved |= dispatch_single(shape);
  }
  placement_.ring();
  return moved;
}

bool Dispatcher::dispatch_mixed() {
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

bool Dispatcher::dispatch_single(TaskShape shape) {
  const ReadyClass cls = shape == TaskShape::kAic ? ReadyClass::kAic : ReadyClass::kAiv;
  if (queues_.none(cls)) return false;
  bool moved = false;
  Share share;
  while (queues_.take(cls, cores_.idle(shape), 0, share)) {
    place(share, cores_.idle_cores(shape));
    moved = true;
  }
  // Tasks of its own whose cores mixed blocks have taken are better off there.
  if (queues_.local(cls) > 0 && progress_.idle_elsewhere(shape) > 0) queues_.give_back(cls);
  for (;;) {
    const unsigned pendable = cores_.pendable(shape);
    // What idle cores of other threads will take at once is theirs.
    if (pendable == 0 || !queues_.take(cls, pendable, progress_.idle_elsewhere(shape), share))
      return moved;
    place(share, cores_.pendable_cores(shape));
    moved = true;
  }
}

void Dispatcher::place(const Share& share, const WorkerSet& cores) {
  placement_.begin(share);
  for (std::uint32_t i = 0; i < share.count; ++i) {
    placement_.place(share.first + i, cores_.next(cores));
  }
}

}  // namespace npu::firmware
