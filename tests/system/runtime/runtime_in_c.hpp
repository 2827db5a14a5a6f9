// SPDX-License-Identifier: Apache-2.0
// The runtime's C functions on a simulated card, as a C program uses them.
#pragma once

#include <vector>

#include "kernels/device/shipped/elementwise.hpp"
#include "npu/driver/runtime.h"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"

namespace npu::test {

inline constexpr std::size_t kCount = 1000;
inline constexpr std::uint32_t kElementwise = 5;

// t = a + b; out = t + t.
inline int build(npu_runtime* runtime, const std::uint64_t* args, std::size_t count) {
  if (count != 4) return -1;
  const auto add = [&](std::uint64_t to, std::uint64_t a, std::uint64_t b) {
    kernels::vector::Elementwise work;
    work.to = to, work.a = a, work.b = b;
    work.count = kCount;
    const auto words = kernels::vector::to_words(work);
    std::vector<npu_task_argument> arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::int32_t kind = i == 0   ? NPU_ARGUMENT_OUTPUT
                                : i <= 2 ? NPU_ARGUMENT_INPUT
                                         : NPU_ARGUMENT_SCALAR;
      arguments.push_back({words[i], kind, 0, i <= 2 ? kCount * sizeof(float) : 0});
    }
    return npu_add_task(runtime, kElementwise, NPU_TASK_AIV, 1, arguments.data(), arguments.size());
  };
  const int first = add(args[2], args[0], args[1]);
  const int second = add(args[3], args[2], args[2]);
  return first == 0 && second == 1 ? 0 : -1;
}

class RuntimeInC {
 public:
  explicit RuntimeInC(platform::Platform& platform)
      : context(npu_create_device_context(reinterpret_cast<npu_platform*>(&platform))),
        memory(npu_get_runtime_size()),
        runtime(reinterpret_cast<npu_runtime*>(memory.data())) {
    npu_runtime_init(runtime);
    const auto scheduler = must(workloads::program_image("scheduler"));
    const auto executor = must(workloads::program_image("executor"));
    config.aicpu_thread_num = 2;
    config.aicpu_binary = scheduler.data;
    config.aicpu_size = scheduler.size;
    config.aicore_binary = executor.data;
    config.aicore_size = executor.size;
  }
  ~RuntimeInC() {
    npu_runtime_destroy(runtime);
    npu_destroy_device_context(context);
  }
  RuntimeInC(const RuntimeInC&) = delete;
  RuntimeInC& operator=(const RuntimeInC&) = delete;

  int register_elementwise() {
    const auto kernel = must(workloads::program_image("elementwise"));
    return npu_register_kernel(context, kElementwise, kernel.data, kernel.size);
  }

  npu_device_context* context;
  std::vector<std::max_align_t> memory;
  npu_runtime* runtime;
  npu_run_config config{};
};

}  // namespace npu::test
