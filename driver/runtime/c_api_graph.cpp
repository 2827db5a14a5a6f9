// SPDX-License-Identifier: Apache-2.0
// The C functions of a task graph.
#include "driver/runtime/c_api_impl.hpp"

using namespace npu::driver::c_api;
using npu::driver::ArgumentKind;
using npu::driver::KernelId;
using npu::driver::TaskArgument;
using npu::driver::TaskId;
using npu::driver::TaskOptions;
using npu::driver::TaskShape;

static_assert(NPU_ARGUMENT_SCALAR == static_cast<int>(ArgumentKind::kScalar));
static_assert(NPU_ARGUMENT_NO_DEPENDENCY == static_cast<int>(ArgumentKind::kNoDependency));
static_assert(NPU_TASK_NONE == static_cast<int>(TaskShape::kNone));
static_assert(NPU_TASK_MIXED == static_cast<int>(TaskShape::kMixed));

size_t npu_get_runtime_size(void) {
  return sizeof(npu_runtime);
}

void npu_runtime_init(npu_runtime* runtime) {
  if (runtime != nullptr) new (runtime) npu_runtime;
}

void npu_runtime_destroy(npu_runtime* runtime) {
  if (runtime != nullptr) runtime->~npu_runtime();
}

const char* npu_runtime_error(const npu_runtime* runtime) {
  return runtime == nullptr ? "no runtime" : runtime->error.c_str();
}

int npu_add_task_with(npu_runtime* runtime, uint32_t func_id, int shape,
                      const npu_task_argument* arguments, size_t count,
                      const npu_task_options* options) {
  return guarded(runtime, [&](npu_runtime& r) {
    if (shape < NPU_TASK_NONE || shape > NPU_TASK_MIXED) return refuse(r, "an unknown task shape");
    if (options == nullptr) return refuse(r, "a task without options");
    if (count > npu::abi::kMaxTaskWords) return refuse(r, "too many arguments");
    if (arguments == nullptr && count != 0) return refuse(r, "arguments are a null pointer");
    if (options->after == nullptr && options->after_count != 0) {
      return refuse(r, "the tasks to wait for are a null pointer");
    }
    std::vector<TaskArgument> words;
    for (size_t i = 0; i < count; ++i) {
      const auto& argument = arguments[i];
      if (argument.kind < NPU_ARGUMENT_SCALAR || argument.kind > NPU_ARGUMENT_NO_DEPENDENCY) {
        return refuse(r, "an unknown kind of argument");
      }
      words.push_back({argument.word, static_cast<ArgumentKind>(argument.kind), argument.size});
    }
    TaskOptions wanted;
    wanted.blocks = options->blocks;
    wanted.cooperative = options->cooperative != 0;
    wanted.predicate = {options->predicate};
    wanted.user = options->user;
    for (size_t i = 0; i < options->after_count; ++i) {
      if (options->after[i] < 0) return refuse(r, "tasks are 0 and above");
      wanted.after.push_back({static_cast<std::uint32_t>(options->after[i])});
    }
    const auto task = r.graph.add(KernelId{func_id}, static_cast<TaskShape>(shape), words, wanted);
    return task ? static_cast<int>(task->value) : outcome(r, task);
  });
}

int npu_add_task(npu_runtime* runtime, uint32_t func_id, int shape, uint32_t blocks,
                 const npu_task_argument* arguments, size_t count) {
  npu_task_options options{};
  options.blocks = blocks;
  return npu_add_task_with(runtime, func_id, shape, arguments, count, &options);
}

int npu_add_dependency(npu_runtime* runtime, int task, int producer) {
  return guarded(runtime, [&](npu_runtime& r) {
    if (task < 0 || producer < 0) return refuse(r, "tasks are 0 and above");
    return outcome(r, r.graph.depend(TaskId{static_cast<std::uint32_t>(task)},
                                     TaskId{static_cast<std::uint32_t>(producer)}));
  });
}
