// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/run_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/support/choice.hpp"

namespace npu::driver {

// As many cores as blocks of a task can be on at the same time.
unsigned RunCheck::cores_for(TaskShape shape, unsigned block_dim) const {
  return shape == TaskShape::kAiv && cores_.vector_cores != 0 ? block_dim * cores_.vector_cores
                                                              : block_dim;
}

// Mapped, and there to be read, from its beginning to its end.
bool RunCheck::is_memory(DeviceAddress address, Bytes size) const {
  while (size > 0) {
    const auto range = space_.range_of(address);
    if (!range || !range->mapped || range->access == Access::kNone) return false;
    const Bytes there = range->size - (address.value - range->begin.value);
    if (there >= size) return true;
    size -= there;
    address = address + there;
  }
  return true;
}

// What the scheduler itself reads for a task; an address that is none would end it.
Status RunCheck::check_memory(const TaskGraph& graph, std::uint32_t i, bool dump) const {
  const auto& task = graph.task({i});
  const DeviceAddress predicate{task.descriptor.predicate};
  if (predicate.value != 0 && (predicate.value % 4 != 0 || !is_memory(predicate, 4))) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("task {}: predicate 0x{:X} is no word of device memory", i, predicate.value));
  }
  if (!dump) return {};
  for (const auto& tensor : task.tensors) {
    const DeviceAddress at{task.words[tensor.argument]};
    if (is_memory(at, tensor.bytes)) continue;
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {}: argument {}, {} bytes at 0x{:X}, is no device memory", i,
                            tensor.argument, tensor.bytes, at.value));
  }
  return {};
}

Status RunCheck::check_options(const RunOptions& options) const {
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  if (programs_.scheduler.address == DeviceAddress{} ||
      programs_.executor.address == DeviceAddress{}) {
    return invalid("no firmware: set_firmware() comes first");
  }
  if (options.block_dim > cores_.clusters) {
    return invalid(fmt::format("block_dim {}: the card has {} clusters of cores", options.block_dim,
                               cores_.clusters));
  }
  const unsigned threads = std::min(cores_.aicpus, abi::kMaxSchedulerThreads);
  if (options.aicpu_threads == 0 || options.aicpu_threads > threads) {
    return invalid(
        fmt::format("aicpu_thread_num {}: 1 .. {} are possible", options.aicpu_threads, threads));
  }
  if (options.watchdog < 1_ns) return invalid("a watchdog of less than 1 ns");
  if (auto ok = check_choice("wait", options.wait, WaitPolicy::kAdaptive); !ok) return ok;
  return check_choice("handshake", options.handshake, abi::HandshakeKind::kMemory);
}

Status RunCheck::check_task(const TaskGraph& graph, std::uint32_t i, unsigned block_dim) const {
  const auto invalid = [](std::string text) {
    return fail(ErrorCode::kInvalidArgument, std::move(text));
  };
  const auto& task = graph.task({i});
  const unsigned cores = cores_for(static_cast<TaskShape>(task.descriptor.shape), block_dim);
  if ((task.descriptor.flags & abi::kTaskCooperative) != 0 && task.descriptor.blocks > cores) {
    return invalid(fmt::format("task {}: {} blocks together, there are cores for {}", i,
                               task.descriptor.blocks, cores));
  }
  const auto kernel = programs_.kernels.find(task.kernel.value);
  if (kernel == programs_.kernels.end()) {
    return invalid(fmt::format("task {}: kernel {} is not registered", i, task.kernel.value));
  }
  const ProgramImage& image = kernel->second;
  if (image.words != abi::kAnyWords && image.words != task.words.size()) {
    return invalid(fmt::format("task {}: {} arguments, kernel {} ({}) takes {}", i,
                               task.words.size(), task.kernel.value, image.name, image.words));
  }
  return {};
}

Status RunCheck::check(const TaskGraph& graph, const RunOptions& options) const {
  if (auto ok = check_options(options); !ok) return ok;
  const unsigned block_dim = options.block_dim == 0 ? cores_.clusters : options.block_dim;
  const auto workers = cores_.workers(block_dim);
  if (workers > abi::kMaxWorkers) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} cores, a run has at most {}", workers, abi::kMaxWorkers));
  }
  for (std::uint32_t i = 0; i < graph.tasks(); ++i) {
    if (static_cast<TaskShape>(graph.task({i}).descriptor.shape) == TaskShape::kNone) continue;
    if (auto ok = check_task(graph, i, block_dim); !ok) return ok;
    if (auto ok = check_memory(graph, i, options.dump_tensors); !ok) return ok;
  }
  return {};
}

}  // namespace npu::driver
