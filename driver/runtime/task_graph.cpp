// SPDX-License-Identifier: Apache-2.0
#include "npu/driver/task_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "driver/support/choice.hpp"

namespace npu::driver {
namespace {

bool writes(ArgumentKind kind) {
  return kind == ArgumentKind::kOutput || kind == ArgumentKind::kInOut;
}
bool orders(ArgumentKind kind) {
  return kind == ArgumentKind::kInput || writes(kind);
}

void add_once(std::vector<std::uint32_t>& list, std::uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// What can be said of the task that becomes number `index` without looking at the others.
Status check_task(std::size_t index, TaskShape shape, const std::vector<TaskArgument>& arguments,
                  const TaskOptions& options) {
  auto known = check_choice("shape", shape, TaskShape::kMixed);
  for (const auto& argument : arguments) {
    if (known) known = check_choice("kind", argument.kind, ArgumentKind::kNoDependency);
  }
  if (!known) {
    return fail(known.error().code, fmt::format("task {}: {}", index, known.error().context));
  }
  if (index >= abi::kMaxTasks) {
    return fail(ErrorCode::kOutOfResources,
                fmt::format("a graph has at most {} tasks", abi::kMaxTasks));
  }
  if (arguments.size() > abi::kMaxTaskWords) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {}: {} arguments, at most {} are possible", index,
                            arguments.size(), abi::kMaxTaskWords));
  }
  if (options.blocks == 0 || options.blocks > abi::kMaxTaskBlocks) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {}: {} blocks, 1 .. {} are possible", index, options.blocks,
                            abi::kMaxTaskBlocks));
  }
  return {};
}

}  // namespace

Result<TaskId> TaskGraph::add(KernelId kernel, TaskShape shape,
                              const std::vector<TaskArgument>& arguments,
                              const TaskOptions& options) {
  if (auto ok = check_task(tasks_.size(), shape, arguments, options); !ok) return forward_error(ok);
  Task task;
  task.kernel = kernel;
  for (const auto& argument : arguments) {
    if (argument.kind != ArgumentKind::kScalar && argument.bytes != 0) {
      const auto place = static_cast<std::uint32_t>(task.words.size());
      task.tensors.push_back({place, argument.kind, argument.bytes});
    }
    task.words.push_back(argument.word);
    if (!orders(argument.kind)) continue;
    const auto writer = last_writer_.find(argument.word);
    if (writer != last_writer_.end()) add_once(task.producers, writer->second);
  }
  if (const auto writer = last_writer_.find(options.predicate.value);
      writer != last_writer_.end()) {
    add_once(task.producers, writer->second);
  }
  for (const TaskId producer : options.after) {
    if (producer.value >= tasks_.size()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("task {}: no task {} to wait for", tasks_.size(), producer.value));
    }
    add_once(task.producers, producer.value);
  }
  if (task.producers.size() > abi::kMaxTaskProducers) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {}: waits for {} tasks, at most {} are possible", tasks_.size(),
                            task.producers.size(), abi::kMaxTaskProducers));
  }
  auto& descriptor = task.descriptor;
  descriptor.words = static_cast<std::uint32_t>(task.words.size());
  descriptor.blocks = options.blocks;
  descriptor.shape = static_cast<std::uint16_t>(shape);
  descriptor.flags = options.cooperative ? abi::kTaskCooperative : 0;
  descriptor.predicate = options.predicate.value;
  descriptor.kernel_id = kernel.value;
  descriptor.user = options.user;
  const TaskId id{static_cast<std::uint32_t>(tasks_.size())};
  for (const auto& argument : arguments) {
    if (writes(argument.kind)) last_writer_[argument.word] = id.value;
  }
  edges_ += task.producers.size();
  tasks_.push_back(std::move(task));
  return id;
}

Status TaskGraph::depend(TaskId task, TaskId producer) {
  if (task.value >= tasks_.size() || producer.value >= tasks_.size()) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {} after task {}: the graph has {} tasks", task.value,
                            producer.value, tasks_.size()));
  }
  auto& producers = tasks_[task.value].producers;
  const std::size_t before = producers.size();
  if (before == abi::kMaxTaskProducers) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("task {}: waits for {} tasks already", task.value, before));
  }
  add_once(producers, producer.value);
  edges_ += producers.size() - before;
  return {};
}

}  // namespace npu::driver
