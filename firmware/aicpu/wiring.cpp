// SPDX-License-Identifier: Apache-2.0
// Thread 0 wires the graph while tasks already run: it turns the lists of producers into lists of
// consumers, a few tasks at a time.
#include <array>

#include "firmware/aicpu/scheduler.hpp"

namespace npu::firmware {

namespace {
constexpr std::uint32_t kBatchEdges = 32;  // and tasks, between two looks at cores
}

bool Scheduler::wire_some() {
  const std::uint32_t tasks = run_.header().tasks;
  if (next_to_wire_ >= tasks) {
    if (wired_at_ == 0) wired_at_ = port_.system_counter();
    return false;
  }
  enter(AicpuPhase::kWiring);
  const std::uint32_t edges = edges_ + kBatchEdges;
  for (unsigned i = 0; i < kBatchEdges && edges_ < edges && next_to_wire_ < tasks; ++i) {
    if (!wire(next_to_wire_)) {
      fail(abi::RunStatus::kBadHeader, next_to_wire_);
      return true;
    }
    if (stop_ != Stop::kNone) return true;
    ++next_to_wire_;
  }
  return true;
}

bool Scheduler::fits(const abi::TaskDescriptor& task) const {
  const auto shape = static_cast<abi::TaskShape>(task.shape);
  if (shape == abi::TaskShape::kNone) return true;
  const unsigned cores = cores_.counts().of(shape);
  if ((task.flags & abi::kTaskTogether) != 0) return task.blocks <= cores;
  return shape != abi::TaskShape::kMixed || cores > 0;
}

bool Scheduler::wire(std::uint32_t task) {
  abi::TaskDescriptor& descriptor = wired_;
  port_.read(run_.descriptor(task), &descriptor, sizeof descriptor);
  if (!descriptor_is_valid(run_.header(), descriptor) ||
      descriptor.producers > run_.header().producer_count - edges_) {
    return false;
  }
  if (!fits(descriptor)) {
    fail(abi::RunStatus::kNotCoresident, task);
    return true;
  }
  const auto shape = static_cast<abi::TaskShape>(descriptor.shape);
  const bool together =
      (descriptor.flags & abi::kTaskTogether) != 0 && shape != abi::TaskShape::kNone;
  const TaskKind kind(shape, together, descriptor.predicate != 0, descriptor.blocks);
  run_.store32(run_.task(task, offsetof(TaskState, kind)), kind.word());
  if (descriptor.producers == 0) {
    make_ready(task, kind);
    return true;
  }
  std::array<std::uint32_t, abi::kMaxTaskProducers> producers{};
  port_.read(run_.header().producers + std::uint64_t{descriptor.first_producer} * 4,
             producers.data(), std::uint64_t{descriptor.producers} * 4);
  std::uint32_t early = 0;
  for (std::uint32_t i = 0; i < descriptor.producers; ++i) {
    if (producers[i] >= run_.header().tasks) return false;
    early += wire_edge(producers[i], task) ? 0 : 1;
  }
  const std::uint32_t missing = early - descriptor.producers;  // wraps: below 0
  const std::uint64_t before =
      port_.fetch_add(run_.task(task, offsetof(TaskState, arrived)), 4, missing);
  if (static_cast<std::uint32_t>(before) + missing == 0) make_ready(task, kind);
  return true;
}

// False: the producer has ended already.
bool Scheduler::wire_edge(std::uint32_t producer, std::uint32_t consumer) {
  const std::uint32_t edge = edges_++;
  const std::uint64_t list = run_.task(producer, offsetof(TaskState, successors));
  std::uint32_t seen = 0;
  for (;;) {
    port_.store(run_.edge(edge), 8, consumer | std::uint64_t{seen} << 32);
    const auto now = static_cast<std::uint32_t>(port_.compare_exchange(list, 4, seen, edge + 1));
    if (now == seen) return true;
    if (now == kClosed) return false;
    seen = now;
  }
}

}  // namespace npu::firmware
