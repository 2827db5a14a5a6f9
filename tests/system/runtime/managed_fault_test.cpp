// SPDX-License-Identifier: Apache-2.0
// Tasks on managed memory: what they write is there, and a fault that nobody can serve is told with
// task, core and address.
#include "npu/driver/managed.hpp"
#include "tests/system/managed/managed_card.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

class ManagedTasks : public ManagedTest {};
NPU_ALL_POLICIES(ManagedTasks);

// The kernel copies 64 bytes from `from`.
TaskId add_read(TaskGraph& graph, std::uint64_t from) {
  return must(graph.add(kTestKernel, TaskShape::kAiv,
                        {driver::scalar(static_cast<std::uint64_t>(KernelMode::kWild)),
                         driver::scalar(from), driver::scalar(0)}));
}

TEST_P(ManagedTasks, AreToldOfFaultsWithTaskCoreAndAddress) {
  Machine(settings()).on<RuntimeCard>([](RuntimeCard& card) {
    auto managed = must(
        ManagedMemory::open(card.context->device(), card.context->process().space(), options()));
    const auto at = must(managed->allocate(kPageSize));
    TaskGraph good;
    add_read(good, at.value + 4096);
    EXPECT_THAT(card.run(good), IsOk());
    EXPECT_EQ(managed->statistics().faults, 1U);

    TaskGraph bad;
    add_read(bad, at.value);
    const auto wild = add_read(bad, at.value + kPageSize + 64);
    const auto report = card.run(bad);
    EXPECT_THAT(report, FailsWith(ErrorCode::kDeviceFault));
    const auto& result = card.context->last_result();
    EXPECT_EQ(result.task, wild.value);
    EXPECT_EQ(result.detail, static_cast<std::uint32_t>(abi::FaultCode::kTranslation));
    EXPECT_THAT(report.error().context, testing::HasSubstr("read of 0x90000200040, 64 bytes"));
    EXPECT_NE(result.physical_core, ~std::uint32_t{0});
    EXPECT_EQ(managed->statistics().fault_errors, 1U);
    card.expect_next_run_succeeds();
    EXPECT_THAT(managed->close(), IsOk());
  });
}

}  // namespace
}  // namespace npu::test
