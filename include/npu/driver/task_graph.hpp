// SPDX-License-Identifier: Apache-2.0
// A graph of tasks for the card's AI Cores, as its builder puts it together (requirements.md M6).
// It holds no card and no memory: DeviceContext::run() turns it into a run.
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
  std::uint32_t value = 0;  // in the order of add(), from 0

  friend constexpr bool operator==(TaskId a, TaskId b) { return a.value == b.value; }
};

struct KernelId {
  std::uint32_t value = 0;  // as registered, 0 .. kMaxKernels - 1
};
inline constexpr std::uint32_t kMaxKernels = 1024;
inline constexpr KernelId kNoKernel{0xFFFF'FFFF};  // of TaskShape::kNone

// What a task does with the tensor that an argument is the address of: decides what it waits for.
enum class ArgumentKind : std::uint8_t {
  kScalar,        // is no tensor
  kInput,         // waits for the tensor's last writer
  kOutput,        // waits for its last writer
  kInOut,         // both
  kNoDependency,  // a tensor whose order is somebody else's business
};

struct TaskArgument {
  std::uint64_t word = 0;
  ArgumentKind kind = ArgumentKind::kScalar;
  Bytes bytes = 0;  // of the tensor; 0: unknown. Only RunOptions::dump_tensors needs it
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
  std::uint32_t blocks = 1;   // 1 .. abi::kMaxTaskBlocks
  bool cooperative = false;   // no block begins before all have a core
  DeviceAddress predicate;    // of a u32: the task waits for its last writer, and is skipped if it
                              // is 0 then. 0: none
  std::vector<TaskId> after;  // producers beside those that the arguments say
  std::uint64_t user = 0;     // comes back in reports
};

class NPU_API TaskGraph {
 public:
  // kInvalidArgument: blocks, or too many arguments (abi::kMaxTaskWords) or producers
  // (kMaxTaskProducers), an unknown producer; kOutOfResources: abi::kMaxTasks. Nothing was added.
  // A tensor is known by its address: reads wait for the last write, writes for the last write;
  // that a write waits for reads is for `after` to say.
  Result<TaskId> add(KernelId kernel, TaskShape shape, const std::vector<TaskArgument>& arguments,
                     const TaskOptions& options = {});
  // One more producer; it may have been added later, and cycles are not looked for.
  Status depend(TaskId task, TaskId producer);

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t edges() const { return edges_; }

  // An argument that is a tensor of known size.
  struct Tensor {
    std::uint32_t argument = 0;  // its place
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
