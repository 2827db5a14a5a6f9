// SPDX-License-Identifier: Apache-2.0
// The C functions under the public names (npu/driver/runtime_names.h).
#include "npu/driver/runtime_names.h"

#include "tests/system/runtime/runtime_in_c.hpp"

namespace npu::test {
namespace {

class CNames : public testing::Test {
 protected:
  // A kernel is there, firmware is in config; nothing of the card is open but that.
  template <class F>
  void on_card(F body) {
    Machine({}, "910b2.yaml").on<RuntimeInC>([&](RuntimeInC& c) {
      ASSERT_EQ(set_device(c.context, 0), 0);
      ASSERT_EQ(c.register_elementwise(), 0);
      npu_runtime_destroy(c.runtime);  // run_runtime() makes one by itself
      body(c);
      npu_runtime_init(c.runtime);
    });
  }
  static int run(RuntimeInC& c, const runtime_args* args, npu_callable callable = build,
                 int threads = 2, int pmu = 0) {
    return run_runtime(c.context, c.runtime, callable, args, 0, threads, 0,
                       static_cast<const std::uint8_t*>(c.config.aicpu_binary), c.config.aicpu_size,
                       static_cast<const std::uint8_t*>(c.config.aicore_binary),
                       c.config.aicore_size, 1, 0, pmu);
  }
};

TEST_F(CNames, RunAGraphFromMemoryToMemory) {
  on_card([](RuntimeInC& c) {
    std::array<void*, 4> tensors{};
    std::array<std::uint64_t, 4> words{};
    for (unsigned i = 0; i < 4; ++i) {
      tensors[i] = device_malloc_ctx(c.context, kCount * sizeof(float));
      ASSERT_NE(tensors[i], nullptr);
      words[i] = reinterpret_cast<std::uint64_t>(tensors[i]);
      const std::vector<float> values(kCount, i == 0 ? 1.5F : 2.0F);
      ASSERT_EQ(copy_to_device_ctx(c.context, tensors[i], values.data(), kCount * 4), 0);
    }
    const runtime_args args{words.data(), words.size()};
    ASSERT_EQ(run(c, &args, build, 2, 2), 0) << npu_last_error(c.context);
    std::vector<float> out(kCount);
    ASSERT_EQ(copy_from_device_ctx(c.context, out.data(), tensors[3], kCount * 4), 0);
    EXPECT_THAT(out, testing::Each(7.0F));
    EXPECT_EQ(npu_last_task_records(c.context, nullptr, 0), 2U);
    EXPECT_EQ(npu_last_pmu_records(c.context, nullptr, 0), 72U);
    EXPECT_EQ(device_free_ctx(c.context, tensors[0]), 0);
    EXPECT_EQ(device_free_ctx(c.context, tensors[0]), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(finalize_device(c.context), 0);
  });
}

TEST_F(CNames, RefuseWhatCannotBe) {
  on_card([](RuntimeInC& c) {
    const runtime_args none{nullptr, 0};
    EXPECT_EQ(run(c, &none), NPU_ERROR_INVALID_ARGUMENT) << "the callable wants four words";
    EXPECT_EQ(run(c, nullptr), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(run(c, &none, nullptr), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(run(c, &none, build, -1), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(run(c, &none, build, 2, -1), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(device_malloc_ctx(c.context, std::size_t{1} << 50), nullptr);
    EXPECT_EQ(create_device_context(nullptr), nullptr);
    EXPECT_EQ(get_runtime_size(), npu_get_runtime_size());
  });
}

}  // namespace
}  // namespace npu::test
