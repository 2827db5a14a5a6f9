// SPDX-License-Identifier: Apache-2.0
// The runtime's C functions on a simulated card: a graph of two tasks built by a callable.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <vector>

#include "npu/driver/runtime.h"
#include "tests/system/support/machine.hpp"
#include "workloads/framework/program_images.hpp"
#include "workloads/kernels/vector/words.hpp"

namespace npu::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::StrEq;

constexpr std::size_t kCount = 1000;
constexpr std::uint32_t kElementwise = 5;

// t = a + b; out = t + t.
int build(npu_runtime* runtime, const std::uint64_t* args, std::size_t count) {
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
      arguments.push_back({words[i], kind, 0});
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

TEST(RuntimeCApi, AGraphOfACallableRunsToItsEnd) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeInC c(platform);
    ASSERT_EQ(npu_set_device(c.context, 0), 0);
    ASSERT_EQ(c.register_elementwise(), 0);
    std::array<std::uint64_t, 4> tensors{};
    for (auto& tensor : tensors) {
      tensor = npu_device_malloc(c.context, kCount * sizeof(float));
      ASSERT_NE(tensor, 0U);
    }
    const std::vector<float> a(kCount, 1.5F), b(kCount, 2.0F);
    ASSERT_EQ(npu_copy_to_device(c.context, tensors[0], a.data(), kCount * sizeof(float)), 0);
    ASSERT_EQ(npu_copy_to_device(c.context, tensors[1], b.data(), kCount * sizeof(float)), 0);
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, build, tensors.data(), 4, &c.config), 0)
        << npu_last_error(c.context);
    std::vector<float> out(kCount);
    ASSERT_EQ(npu_copy_from_device(c.context, out.data(), tensors[3], kCount * sizeof(float)), 0);
    EXPECT_THAT(out, Each(7.0F));
    for (const auto tensor : tensors) EXPECT_EQ(npu_device_free(c.context, tensor), 0);
    EXPECT_EQ(npu_finalize_device(c.context), 0);
  });
}

TEST(RuntimeCApi, ErrorsHaveNegativeCodesNamesAndContext) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeInC c(platform);
    EXPECT_THAT(npu_error_name(0), StrEq("ok"));
    EXPECT_THAT(npu_error_name(NPU_ERROR_OUT_OF_MEMORY), StrEq("out of memory"));
    EXPECT_THAT(npu_error_name(NPU_ERROR_TIMEOUT), StrEq("timeout"));
    EXPECT_THAT(npu_error_name(NPU_ERROR_DEVICE_LOST), StrEq("device lost"));
    EXPECT_THAT(npu_error_name(NPU_ERROR_DEVICE_FAULT), StrEq("device fault"));
    EXPECT_THAT(npu_error_name(-1000), StrEq("unknown error"));
    EXPECT_EQ(npu_device_malloc(c.context, 64), 0U) << "no device is set";
    EXPECT_EQ(npu_set_device(c.context, -1), NPU_ERROR_INVALID_ARGUMENT);
    ASSERT_EQ(npu_set_device(c.context, 0), 0);
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, build, nullptr, 0, &c.config),
              NPU_ERROR_INVALID_ARGUMENT)
        << "the callable has failed";
    const std::array<std::uint64_t, 4> tensors = {64, 128, 192, 256};
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, build, tensors.data(), 4, &c.config),
              NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(npu_last_error(c.context), HasSubstr("kernel 5 is not registered"));
  });
}

TEST(RuntimeCApi, ADeviceCanBeSetAgainAfterFinalize) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeInC c(platform);
    ASSERT_EQ(npu_set_device(c.context, 0), 0);
    EXPECT_NE(npu_set_device(c.context, 0), 0) << "one is set";
    ASSERT_EQ(npu_finalize_device(c.context), 0);
    EXPECT_EQ(npu_set_device(c.context, 0), 0);
    EXPECT_NE(npu_device_malloc(c.context, 64), 0U);
  });
}

}  // namespace
}  // namespace npu::test
