// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string>

#include "npu/driver/device_context.hpp"
#include "npu/driver/runtime.h"

struct npu_device_context {
  std::unique_ptr<npu::driver::DeviceContext> context;
  std::string error;
  bool has_firmware = false;
};

struct npu_runtime {
  npu::driver::TaskGraph graph;
};

namespace {

using npu::driver::DeviceAddress;
using npu::driver::KernelId;
using npu::driver::TaskId;

int code_of(npu::ErrorCode code) {
  return -1 - static_cast<int>(code);
}

template <class T>
int outcome(npu_device_context& context, const npu::Result<T>& result) {
  if (result) return 0;
  context.error = result.error().message();
  return code_of(result.error().code);
}

int refuse(npu_device_context& context, const char* what) {
  context.error = what;
  return NPU_ERROR_INVALID_ARGUMENT;
}

npu::ConstByteSpan span(const void* data, std::size_t size) {
  return {static_cast<const std::byte*>(data), size};
}

npu::driver::RunOptions options_of(const npu_run_config& config) {
  npu::driver::RunOptions options;
  options.block_dim = config.block_dim;
  options.aicpu_threads = config.aicpu_thread_num;
  options.profiling = config.enable_profiling != 0;
  options.pmu_group = config.enable_pmu;
  if (config.memory_handshake != 0) options.handshake = npu::abi::HandshakeKind::kMemory;
  return options;
}

}  // namespace

const char* npu_error_name(int code) {
  if (code == 0) return "ok";
  const int last = -1 - static_cast<int>(npu::ErrorCode::kAborted);
  if (code > 0 || code < last) return "unknown error";
  // Literals end with a zero byte.
  return npu::to_string(static_cast<npu::ErrorCode>(-1 - code)).data();
}

const char* npu_last_error(const npu_device_context* context) {
  return context->error.c_str();
}

npu_device_context* npu_create_device_context(npu_platform* platform) {
  auto* const context = new (std::nothrow) npu_device_context;
  if (context == nullptr || platform == nullptr) {
    delete context;
    return nullptr;
  }
  auto made =
      npu::driver::DeviceContext::create(*reinterpret_cast<npu::platform::Platform*>(platform));
  if (!made) {
    delete context;
    return nullptr;
  }
  context->context = std::move(*made);
  return context;
}

void npu_destroy_device_context(npu_device_context* context) {
  delete context;
}

int npu_set_device(npu_device_context* context, int device_id) {
  if (device_id < 0) return refuse(*context, "device ids are 0 and above");
  return outcome(*context, context->context->set_device(static_cast<std::uint32_t>(device_id)));
}

int npu_finalize_device(npu_device_context* context) {
  context->has_firmware = false;
  return outcome(*context, context->context->finalize());
}

uint64_t npu_device_malloc(npu_device_context* context, size_t size) {
  const auto memory = context->context->allocate(size);
  return outcome(*context, memory) == 0 ? memory->value : 0;
}

int npu_device_free(npu_device_context* context, uint64_t address) {
  return outcome(*context, context->context->free(DeviceAddress{address}));
}

int npu_copy_to_device(npu_device_context* context, uint64_t to, const void* from, size_t size) {
  return outcome(*context, context->context->copy_to_device(DeviceAddress{to}, span(from, size)));
}

int npu_copy_from_device(npu_device_context* context, void* to, uint64_t from, size_t size) {
  const npu::ByteSpan out{static_cast<std::byte*>(to), size};
  return outcome(*context, context->context->copy_from_device(out, DeviceAddress{from}));
}

int npu_register_kernel(npu_device_context* context, uint32_t func_id, const void* binary,
                        size_t size) {
  return outcome(*context,
                 context->context->register_kernel(KernelId{func_id}, span(binary, size)));
}

int npu_unregister_kernel(npu_device_context* context, uint32_t func_id) {
  return outcome(*context, context->context->unregister_kernel(KernelId{func_id}));
}

size_t npu_get_runtime_size(void) {
  return sizeof(npu_runtime);
}

void npu_runtime_init(npu_runtime* runtime) {
  new (runtime) npu_runtime;
}

void npu_runtime_destroy(npu_runtime* runtime) {
  runtime->~npu_runtime();
}

int npu_add_task(npu_runtime* runtime, uint32_t func_id, int shape, uint32_t blocks,
                 const npu_task_argument* arguments, size_t count) {
  if (shape < NPU_TASK_NONE || shape > NPU_TASK_MIXED) return NPU_ERROR_INVALID_ARGUMENT;
  std::vector<npu::driver::TaskArgument> words;
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].kind < NPU_ARGUMENT_SCALAR || arguments[i].kind > NPU_ARGUMENT_NO_DEPENDENCY) {
      return NPU_ERROR_INVALID_ARGUMENT;
    }
    words.push_back({arguments[i].word, static_cast<npu::driver::ArgumentKind>(arguments[i].kind)});
  }
  npu::driver::TaskOptions options;
  options.blocks = blocks;
  const auto task = runtime->graph.add(KernelId{func_id},
                                       static_cast<npu::driver::TaskShape>(shape), words, options);
  return task ? static_cast<int>(task->value) : code_of(task.error().code);
}

int npu_add_dependency(npu_runtime* runtime, int task, int producer) {
  if (task < 0 || producer < 0) return NPU_ERROR_INVALID_ARGUMENT;
  const auto added = runtime->graph.depend(TaskId{static_cast<std::uint32_t>(task)},
                                           TaskId{static_cast<std::uint32_t>(producer)});
  return added ? 0 : code_of(added.error().code);
}

int npu_run_runtime(npu_device_context* context, npu_runtime* runtime, npu_callable callable,
                    const uint64_t* args, size_t count, const npu_run_config* config) {
  if (config->enable_dump_tensor != 0) {
    context->error = "tensors cannot be dumped";
    return code_of(npu::ErrorCode::kUnsupported);
  }
  const bool brings_firmware = config->aicpu_binary != nullptr;
  if (brings_firmware) {
    const auto set =
        context->context->set_firmware(span(config->aicpu_binary, config->aicpu_size),
                                       span(config->aicore_binary, config->aicore_size));
    if (const int failed = outcome(*context, set); failed != 0) return failed;
    context->has_firmware = true;
  }
  if (!context->has_firmware)
    return refuse(*context, "the first run needs the firmware's binaries");
  if (callable != nullptr) runtime->graph = {};
  if (callable != nullptr && callable(runtime, args, count) != 0) {
    return refuse(*context, "the callable has failed");
  }
  return outcome(*context, context->context->run(runtime->graph, options_of(*config)));
}
