// SPDX-License-Identifier: Apache-2.0
// A graph of tasks for a card's AI Cores (requirements.md M6). A program builds it and passes it to
// DeviceContext::run(). It needs no card.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "npu/abi/task_graph.hpp"
#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/driver/types.hpp"

namespace npu::driver {

using abi::TaskShape;

struct TaskId {
  std::uint32_t value = 0;  // counted by add(), from 0

  friend constexpr bool operator==(TaskId a, TaskId b) { return a.value == b.value; }
};

struct KernelId {
  std::uint32_t value = 0;  // of register_kernel(): 0 .. kMaxKernels - 1
};
inline constexpr std::uint32_t kMaxKernels = 1024;
inline constexpr KernelId kNoKernel{0xFFFF'FFFF};  // of TaskShape::kNone

// How a task uses the tensor at an argument's address. It decides for which tasks the task waits.
enum class ArgumentKind : std::uint8_t {
  kScalar,        // not a tensor
  kInput,         // reads it: waits for its last writer
  kOutput,        // writes it: waits for its last writer
  kInOut,         // reads and writes it: waits for its last writer
  kNoDependency,  // a tensor that the task does not wait for
};

struct TaskArgument {
  std::uint64_t word = 0;
  ArgumentKind kind = ArgumentKind::kScalar;
  Bytes bytes = 0;  // of the tensor, for RunOptions::dump_tensors; 0: unknown
};
inline TaskArgument scalar(std::uint64_t value) {
  return {value, ArgumentKind::kScalar};
}
inline TaskArgument input(DeviceAddress tensor, Bytes bytes = 0) {
  return {tensor.value, ArgumentKind::kInput, bytes};
}
inline TaskArgument output(DeviceAddress tensor, Bytes bytes = 0) {
  return {tensor.value, ArgumentKind::kOutput, bytes};
}
inline TaskArgument in_out(DeviceAddress tensor, Bytes bytes = 0) {
  return {tensor.value, ArgumentKind::kInOut, bytes};
}

struct TaskOptions {
  std::uint32_t blocks = 1;  // 1 .. abi::kMaxTaskBlocks
  bool cooperative = false;  // a cooperative launch: no block begins before all have a core
  // Of a u32, aligned to 4. The task waits for its last writer and is skipped if the u32 is 0.
  DeviceAddress predicate;    // address 0: none
  std::vector<TaskId> after;  // more tasks to wait for
  std::uint64_t user = 0;     // of the caller; appears in reports
};

class NPU_API TaskGraph {
 public:
  // Adds a task. A tensor is identified by its address. A task that reads or writes it waits for
  // the last writer. A writer does not wait for readers: use `after`. After an error nothing was
  // added.
  // kInvalidArgument: blocks, shape or kinds out of range; more than abi::kMaxTaskWords arguments
  // or kMaxTaskProducers producers; an unknown task in `after`.
  // kOutOfResources: the graph has abi::kMaxTasks tasks.
  Result<TaskId> add(KernelId kernel, TaskShape shape, const std::vector<TaskArgument>& arguments,
                     const TaskOptions& options = {});
  // Lets `task` also wait for `producer`, which may have been added later. Cycles are not detected.
  // kInvalidArgument: an unknown task, or too many producers.
  Status depend(TaskId task, TaskId producer);

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t edges() const { return edges_; }

  // A tensor argument of known size.
  struct Tensor {
    std::uint32_t argument = 0;  // index of the argument
    ArgumentKind kind = ArgumentKind::kInput;
    Bytes bytes = 0;
  };
  struct Task {
    KernelId kernel;
    abi::TaskDescriptor descriptor;  // without addresses
    std::vector<std::uint64_t> words;
    std::vector<std::uint32_t> producers;
    std::vector<Tensor> tensors;
  };
  const Task& task(TaskId id) const { return tasks_[id.value]; }

 private:
  std::vector<Task> tasks_;
  std::map<std::uint64_t, std::uint32_t> last_writer_;  // by tensor address
  std::size_t edges_ = 0;
};

}  // namespace npu::driver
