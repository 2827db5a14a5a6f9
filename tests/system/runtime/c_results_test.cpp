// SPDX-License-Identifier: Apache-2.0
// What a C program learns of a run: result, records, counters, copies of tensors, of good runs and
// of bad ones; and the options of a task.
#include "tests/system/runtime/runtime_card.hpp"
#include "tests/system/runtime/runtime_in_c.hpp"

namespace npu::test {
namespace {

constexpr std::uint32_t kModes = 6;

class CResults : public testing::Test {
 protected:
  // Device 0 is set; the kernels are there; tensors hold 1.5, 2, 0, 0, and `words` zeros.
  template <class F>
  void on_card(F body) {
    Machine({}, "910b2.yaml").on<RuntimeInC>([&](RuntimeInC& c) {
      ASSERT_EQ(npu_set_device(c.context, 0), 0);
      ASSERT_EQ(c.register_elementwise(), 0);
      const auto modes = RuntimeCard::program_file("runtime_test_kernel");
      ASSERT_EQ(npu_register_kernel(c.context, kModes, modes.data(), modes.size()), 0);
      for (unsigned i = 0; i < 5; ++i) {
        const std::vector<float> values(kCount, i == 0 ? 1.5F : i == 1 ? 2.0F : 0.0F);
        tensors[i] = npu_device_malloc(c.context, kCount * sizeof(float));
        ASSERT_EQ(npu_copy_to_device(c.context, tensors[i], values.data(), kCount * 4), 0);
      }
      words = tensors[4];
      body(c);
    });
  }
  // A task of the test kernel that writes to words[index].
  int add_mode(npu_runtime* runtime, KernelMode mode, std::uint64_t value, unsigned index,
               const npu_task_options& options) const {
    const npu_task_argument arguments[] = {
        {static_cast<std::uint64_t>(mode), NPU_ARGUMENT_SCALAR, 0, 0},
        {words + 64 * index, NPU_ARGUMENT_NO_DEPENDENCY, 0, 0},
        {value, NPU_ARGUMENT_SCALAR, 0, 0}};
    return npu_add_task_with(runtime, kModes, NPU_TASK_AIV, arguments, 3, &options);
  }
  std::uint64_t word(RuntimeInC& c, unsigned index) const {
    std::uint64_t value = 0;
    EXPECT_EQ(npu_copy_from_device(c.context, &value, words + 64 * index, sizeof value), 0);
    return value;
  }

  std::array<std::uint64_t, 5> tensors{};
  std::uint64_t words = 0;
};

TEST_F(CResults, OfAGoodRunHaveRecordsCountersAndTensors) {
  on_card([this](RuntimeInC& c) {
    c.config.enable_profiling = c.config.enable_dump_tensor = 1;
    c.config.enable_pmu = 2;
    ASSERT_EQ(npu_run_runtime(c.context, c.runtime, build, tensors.data(), 4, &c.config), 0);
    npu_run_result result{};
    ASSERT_EQ(npu_last_run_result(c.context, &result), 0);
    EXPECT_EQ(result.status, NPU_RUN_OK);
    EXPECT_EQ(result.completed, 2U);
    EXPECT_GT(result.dump_ticks, 0U);
    std::array<npu_task_record, 4> records{};
    ASSERT_EQ(npu_last_task_records(c.context, records.data(), records.size()), 2U);
    EXPECT_LT(records[0].ended, records[1].begun) << "the second waits for the first";
    npu_pmu_record counters{};
    EXPECT_EQ(npu_last_pmu_records(c.context, &counters, 1), 72U);
    EXPECT_EQ(counters.group, 2U);
    // Two inputs before and an output after; then one input, named twice, and an output.
    std::array<npu_tensor_copy, 6> copies{};
    ASSERT_EQ(npu_last_tensor_copies(c.context, copies.data(), copies.size()), 6U);
    EXPECT_EQ(copies[2].stage, NPU_DUMP_AFTER_COMPLETION);
    EXPECT_EQ(copies[2].tensor, tensors[2]);
    ASSERT_EQ(copies[5].size, kCount * sizeof(float));
    std::vector<float> out(kCount);
    std::memcpy(out.data(), copies[5].bytes, copies[5].size);
    EXPECT_THAT(out, testing::Each(7.0F));
  });
}

TEST_F(CResults, OfABadRunNameTaskAndCoreAndHaveWhatWasDoneBefore) {
  on_card([this](RuntimeInC& c) {
    npu_task_options options{};
    options.blocks = 1;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 7, 1, options), 0);
    const std::int32_t first = 0;
    options.after = &first, options.after_count = 1;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kHang, 0, 2, options), 1);
    c.config.enable_profiling = 1;
    c.config.watchdog_ns = 1'000'000;
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_TIMEOUT);
    npu_run_result result{};
    ASSERT_EQ(npu_last_run_result(c.context, &result), 0);
    EXPECT_EQ(result.status, NPU_RUN_TIMEOUT);
    EXPECT_EQ(result.reason, NPU_STALL_RUNNING);
    EXPECT_EQ(result.task, 1U);
    EXPECT_NE(result.physical_core, ~0U);
    std::array<npu_task_record, 2> records{};
    ASSERT_EQ(npu_last_task_records(c.context, records.data(), 2), 2U);
    EXPECT_GT(records[0].ended, 0U);
    EXPECT_EQ(records[1].ended, 0U);
    EXPECT_EQ(word(c, 1), 7U);
  });
}

TEST_F(CResults, TasksBeginTogetherWaitAndAreSkippedAsTheirOptionsSay) {
  on_card([this](RuntimeInC& c) {
    npu_task_options options{};
    options.blocks = 49;
    options.cooperative = 1;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 1, 0, options), 0);
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_INVALID_ARGUMENT)
        << "48 vector cores";
    npu_runtime_destroy(c.runtime);
    npu_runtime_init(c.runtime);
    options.blocks = 48;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 1, 0, options), 0);
    // The word at index 3 stays 0.
    options = {};
    options.blocks = 1;
    options.predicate = words + 64 * 3;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 2, 1, options), 1);
    const std::int32_t both[] = {0, 1};
    options.predicate = 0, options.after = both, options.after_count = 2;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 3, 2, options), 2);
    ASSERT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config), 0);
    EXPECT_EQ(word(c, 0), 1U);
    EXPECT_EQ(word(c, 1), 0U) << "skipped";
    EXPECT_EQ(word(c, 2), 3U);
    const std::int32_t unknown = 9;
    options.after = &unknown, options.after_count = 1;
    EXPECT_EQ(add_mode(c.runtime, KernelMode::kStore, 3, 2, options), NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(npu_runtime_error(c.runtime), testing::HasSubstr("no task 9 to wait for"));
  });
}

TEST_F(CResults, APredicateThatIsNoMemoryIsRefused) {
  on_card([this](RuntimeInC& c) {
    npu_task_options options{};
    options.blocks = 1;
    options.predicate = 0x7FFF'0000'0000;
    ASSERT_EQ(add_mode(c.runtime, KernelMode::kStore, 1, 0, options), 0);
    EXPECT_EQ(npu_run_runtime(c.context, c.runtime, nullptr, nullptr, 0, &c.config),
              NPU_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(npu_last_error(c.context), testing::HasSubstr("task 0: predicate 0x7FFF00000000"));
  });
}

}  // namespace
}  // namespace npu::test
