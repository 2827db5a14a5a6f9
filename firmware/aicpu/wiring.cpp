// SPDX-License-Identifier: Apache-2.0
#include "firmware/aicpu/wiring.hpp"

#include <array>

namespace npu::firmware {

namespace {
constexpr std::uint32_t kBatchEdges = 32;  // and tasks, between two looks at cores
}

bool Wiring::wire_some() {
  const std::uint32_t tasks = run_.header().tasks;
  if (next_ >= tasks) {
    if (ended_ == 0) ended_ = port_.system_counter();
    return false;
  }
  phase_.enter(AicpuPhase::kWiring);
  const std::uint32_t edges = edges_ + kBatchEdges;
  for (unsigned i = 0; i < kBatchEdges && edges_ < edges && next_ < tasks; ++i) {
    if (!wire(next_)) {
      stop_.fail(abi::RunStatus::kBadHeader, next_);
      return true;
    }
    if (stop_.is_known()) return true;
    ++next_;
  }
  return true;
}

bool Wiring::fits(const abi::TaskDescriptor& task) const {
  const auto shape = static_cast<abi::TaskShape>(task.shape);
  if (shape == abi::TaskShape::kNone) return true;
  const unsigned cores = cores_.counts().of(shape);
  if ((task.flags & abi::kTaskCooperative) != 0) return task.blocks <= cores;
  return shape != abi::TaskShape::kMixed || cores > 0;
}

bool Wiring::wire(std::uint32_t task) {
  abi::TaskDescriptor& descriptor = last_;
  port_.read(run_.descriptor(task), &descriptor, sizeof descriptor);
  if (!descriptor_is_valid(run_.header(), descriptor) ||
      descriptor.producers > run_.header().producer_count - edges_) {
    return false;
  }
  if (!fits(descriptor)) {
    stop_.fail(abi::RunStatus::kNotCoresident, task);
    return true;
  }
  const auto shape = static_cast<abi::TaskShape>(descriptor.shape);
  const bool cooperative =
      (descriptor.flags & abi::kTaskCooperative) != 0 && shape != abi::TaskShape::kNone;
  const TaskKind kind(shape, cooperative, descriptor.predicate != 0, descriptor.blocks);
  run_.store32(run_.task(task, offsetof(TaskState, kind)), kind.word());
  if (descriptor.producers == 0) {
    ready_.add(task, kind);
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
  if (static_cast<std::uint32_t>(before) + missing == 0) ready_.add(task, kind);
  return true;
}

// False: the producer has ended already.
bool Wiring::wire_edge(std::uint32_t producer, std::uint32_t consumer) {
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
