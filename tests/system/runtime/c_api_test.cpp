// SPDX-License-Identifier: Apache-2.0
// The runtime's C functions on a simulated card: a graph of two tasks built by a callable.
#include "tests/system/runtime/runtime_in_c.hpp"

namespace npu::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::StrEq;

TEST(RuntimeCApi, AGraphOfACallableRunsToItsEnd) {
  Machine({}, "910b2.yaml").on<RuntimeInC>([](RuntimeInC& c) {
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
  Machine({}, "910b2.yaml").on<RuntimeInC>([](RuntimeInC& c) {
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

TEST(RuntimeCApi, ARunIsOfTheDeviceThatIsSetOrSetsItsOwn) {
  Machine({}, "910b2.yaml").on<RuntimeInC>([](RuntimeInC& c) {
    c.config.device_id = 1;
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_NOT_FOUND)
        << "there is one card";
    c.config.device_id = 0;
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config), 0);
    EXPECT_NE(npu_device_malloc(c.context, 64), 0U) << "the run has set the device";
    c.config.device_id = 1;
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(npu_last_error(c.context), HasSubstr("a run on device 1, device 0 is set"));
  });
}

TEST(RuntimeCApi, ACallableThatThrowsIsAnError) {
  Machine({}, "910b2.yaml").on<RuntimeInC>([](RuntimeInC& c) {
    const auto throws = [](npu_runtime*, const std::uint64_t*, std::size_t) -> int {
      throw std::runtime_error("no graph today");
    };
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, throws, nullptr, 0, &c.config),
              NPU_ERROR_ABORTED);
    EXPECT_THAT(npu_last_error(c.context), HasSubstr("no graph today"));
    const auto throws_a_number = [](npu_runtime*, const std::uint64_t*, std::size_t) -> int {
      throw 5;
    };
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, throws_a_number, nullptr, 0, &c.config),
              NPU_ERROR_ABORTED);
  });
}

TEST(RuntimeCApi, NullPointersAreErrors) {
  Machine({}, "910b2.yaml").run([](platform::Platform& platform) {
    EXPECT_EQ(npu_create_device_context(nullptr), nullptr);
    npu_destroy_device_context(nullptr);
    EXPECT_EQ(npu_set_device(nullptr, 0), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_device_malloc(nullptr, 64), 0U);
    EXPECT_EQ(npu_last_task_records(nullptr, nullptr, 0), 0U);
    EXPECT_THAT(npu_last_error(nullptr), StrEq("no context"));
    RuntimeInC c(platform);
    ASSERT_EQ(npu_set_device(c.context, 0), 0);
    const auto memory = npu_device_malloc(c.context, 64);
    EXPECT_EQ(npu_copy_to_device(c.context, memory, nullptr, 64), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_copy_from_device(c.context, nullptr, memory, 64), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_register_kernel(c.context, 1, nullptr, 64), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_add_task(c.runtime, 1, NPU_TASK_AIV, 1, nullptr, 2), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_add_task(nullptr, 1, NPU_TASK_AIV, 1, nullptr, 0), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_run_runtime(c.context, nullptr, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, nullptr),
              NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(npu_last_run_result(c.context, nullptr), NPU_ERROR_INVALID_ARGUMENT);
  });
}

TEST(RuntimeCApi, ADeviceCanBeSetAgainAfterFinalize) {
  Machine({}, "910b2.yaml").on<RuntimeInC>([](RuntimeInC& c) {
    ASSERT_EQ(npu_set_device(c.context, 0), 0);
    EXPECT_NE(npu_set_device(c.context, 0), 0) << "one is set";
    ASSERT_EQ(npu_finalize_device(c.context), 0);
    EXPECT_EQ(npu_set_device(c.context, 0), 0);
    EXPECT_NE(npu_device_malloc(c.context, 64), 0U);
  });
}

}  // namespace
}  // namespace npu::test
