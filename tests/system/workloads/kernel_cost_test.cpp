// SPDX-License-Identifier: Apache-2.0
// What a driver in the kernel spends on a card's memory: in the range that was measured by default,
// each key a part of its own.
#include <gmock/gmock.h>

#include "tests/system/workloads/fault_parts.hpp"

namespace npu::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

struct Fault {
  const char* card;
  const char* policy;

  friend std::ostream& operator<<(std::ostream& out, const Fault& fault) {
    return out << fault.card << " " << fault.policy;
  }
};
class IsolatedFault : public testing::TestWithParam<Fault> {};

TEST_P(IsolatedFault, OnAnUntouchedPageTakes20To50us) {
  Machine machine({}, GetParam().card);
  const auto report = machine.workload(
      "svm_fault", {"pages=untouched", "batch=0", std::string("policy=") + GetParam().policy});
  EXPECT_THAT(value_of(report, "svm_fault.untouched.latency_us"),
              AllOf(Ge(20 * kMicrosecond), Le(50 * kMicrosecond)));
}
INSTANTIATE_TEST_SUITE_P(Cards, IsolatedFault,
                         testing::Values(Fault{"910b2.yaml", "message"},
                                         Fault{"910b2.yaml", "batch"},
                                         Fault{"910a.yaml", "message"},
                                         Fault{"950pr.yaml", "batch"}));

class FaultBatch : public testing::TestWithParam<unsigned> {};

TEST_P(FaultBatch, Of256Takes200To600us) {
  Machine machine({}, "910b2.yaml");
  const auto report = machine.workload("svm_fault", {"pages=untouched", "faults=1", "policy=batch",
                                                     "batch_pages=" + std::to_string(GetParam())});
  EXPECT_EQ(value_of(report, "svm_fault.batch.faults"), 256);
  EXPECT_THAT(value_of(report, "svm_fault.batch.latency_us"),
              AllOf(Ge(200 * kMicrosecond), Le(600 * kMicrosecond)));
}
INSTANTIATE_TEST_SUITE_P(Pages, FaultBatch, testing::Values(1U, 16U, 64U, 256U));

class FaultCosts : public testing::TestWithParam<PartKey> {};

TEST_P(FaultCosts, MoveTheirPartsAlone) {
  expect_to_move(GetParam());
}

// A key at two values that differ by a microsecond, and the part that it moves.
PartKey cost(const char* name, const char* policy, const char* page, const char* less,
             const char* more, const char* part) {
  return {name, policy, page, less, more, {{part, kMicrosecond}}};
}
INSTANTIATE_TEST_SUITE_P(
    Keys, FaultCosts,
    testing::Values(cost("lock_batch", "batch", "untouched", "cpu.kernel.page_table_lock_ns=0",
                         "cpu.kernel.page_table_lock_ns=1000", "driver"),
                    cost("lock_message", "message", "untouched",
                         "cpu.kernel.page_table_lock_ns=7000", "cpu.kernel.page_table_lock_ns=8000",
                         "driver"),
                    cost("lock_ats", "ats", "untouched", "cpu.kernel.page_table_lock_ns=0",
                         "cpu.kernel.page_table_lock_ns=1000", "driver"),
                    cost("fault_batch", "batch", "filled", "cpu.kernel.serve_fault_ns=0",
                         "cpu.kernel.serve_fault_ns=1000", "driver"),
                    cost("fault_message", "message", "untouched", "cpu.kernel.serve_fault_ns=500",
                         "cpu.kernel.serve_fault_ns=1500", "driver"),
                    cost("touch_batch", "batch", "untouched", "cpu.kernel.first_touch_ns=0",
                         "cpu.kernel.first_touch_ns=1000", "allocation"),
                    cost("touch_message", "message", "untouched", "cpu.kernel.first_touch_ns=0",
                         "cpu.kernel.first_touch_ns=1000", "driver"),
                    cost("touch_ats", "ats", "untouched", "cpu.kernel.first_touch_ns=0",
                         "cpu.kernel.first_touch_ns=1000", "allocation"),
                    cost("unmap_batch", "batch", "filled", "cpu.kernel.unmap_ns=0",
                         "cpu.kernel.unmap_ns=1000", "unmapping"),
                    cost("unmap_message", "message", "filled", "cpu.kernel.unmap_ns=0",
                         "cpu.kernel.unmap_ns=1000", "unmapping"),
                    cost("shootdown_batch", "batch", "filled", "cpu.kernel.tlb_shootdown_ns=0",
                         "cpu.kernel.tlb_shootdown_ns=1000", "unmapping"),
                    cost("shootdown_read_only", "message", "read_only",
                         "cpu.kernel.tlb_shootdown_ns=0", "cpu.kernel.tlb_shootdown_ns=1000",
                         "invalidation"),
                    cost("dma_map_batch", "batch", "filled", "cpu.kernel.dma_map_ns=0",
                         "cpu.kernel.dma_map_ns=1000", "unmapping"),
                    cost("dma_map_message", "message", "filled", "cpu.kernel.dma_map_ns=0",
                         "cpu.kernel.dma_map_ns=1000", "unmapping")),
    [](const auto& instance) { return std::string(instance.param.name); });

// Three passes over twice as many pages as there is memory for fault three times on each; with room
// for all it is once. What is paid once a page hides that.
TEST(FirstTouches, AreNotPaidAgainAfterAPageHasLeft) {
  Machine machine({"cpu.kernel.first_touch_ns=10000000", "cpu.kernel.dma_map_ns=10000000",
                   "cpu.kernel.unmap_ns=10000000"},
                  "910b2.yaml");
  const auto report = machine.workload("svm_oversubscribe",
                                       {"memory=8", "ratio=200", "passes=3", "patterns=cyclic"});
  EXPECT_GT(metric(report, "svm_oversubscribe.cyclic.evictions"), 16);
  EXPECT_LT(metric(report, "svm_oversubscribe.cyclic.slowdown"), 1.1);
}

// Times of calls on memory of 512 MiB.
Picoseconds time_of(platform::Platform& host, const std::function<void()>& call) {
  const auto begin = host.clock().now();
  call();
  return host.clock().now() - begin;
}

TEST(NativeAllocation, Of512MiBTakesAbout20ms) {
  Machine({}, "910b2.yaml").run([&](platform::Platform& host) {
    auto device = must(driver::Device::open_index(host, 0));
    const auto time = time_of(host, [&] { must(device->allocate(512_MiB)); });
    EXPECT_THAT(time.count(), AllOf(Ge((19_ms).count()), Le((21_ms).count())));
  });
}

class AllocationCosts : public testing::TestWithParam<unsigned> {};

// Pages of 2 MiB are found by create_memory(), mapped by map(), and both by allocate().
TEST_P(AllocationCosts, AreByPageInTheCallThatMakesIt) {
  const auto pages = GetParam();
  Machine machine({"cpu.kernel.allocate_page_ns=1000000", "cpu.kernel.map_page_ns=10000000",
                   "cpu.kernel.page_table_lock_ns=0"},
                  "910b2.yaml");
  machine.run([&](platform::Platform& host) {
    auto device = must(driver::Device::open_index(host, 0));
    auto& space = device->address_space();
    const Bytes size = pages * driver::kPageSize;
    const auto per_page = [&](Picoseconds time) { return time / (pages * 1_ms); };
    driver::MemoryHandle memory;
    const auto at = must(space.reserve(size));
    EXPECT_EQ(per_page(time_of(host, [&] { memory = must(space.create_memory(size)); })), 1);
    EXPECT_EQ(per_page(time_of(host, [&] { EXPECT_TRUE(space.map(at, size, memory)); })), 10);
    EXPECT_EQ(per_page(time_of(host, [&] { must(space.allocate(size)); })), 11);
    EXPECT_EQ(per_page(time_of(host, [&] { EXPECT_FALSE(space.allocate(1024_GiB)); })), 0);
  });
}
INSTANTIATE_TEST_SUITE_P(Pages, AllocationCosts, testing::Values(1U, 3U, 64U));

// Accesses that nobody serves, 15 ms apart: the third is two more than the first, 30 ms before.
struct Warning {
  const char* errors;
  const char* window;
  unsigned warnings;
};
class FaultWarning : public testing::TestWithParam<Warning> {};

TEST_P(FaultWarning, ComesOnceAsTheKeysSayAndIsANoteOfTheReport) {
  Machine machine({std::string("driver.fault_warning_errors=") + GetParam().errors,
                   std::string("driver.fault_warning_window_ms=") + GetParam().window},
                  "910b2.yaml");
  machine.tells_configuration = true;
  const auto report = machine.workload("svm_fault", {"pages=untouched", "faults=1", "errors=5"});
  EXPECT_EQ(value_of(report, "svm_fault.fault_errors"), 5);
  EXPECT_EQ(value_of(report, "svm_fault.fault_error_warnings"), GetParam().warnings);
  unsigned notes = 0;
  for (const auto& note : report.notes())
    notes += note.find("page faults of VMID") != std::string::npos;
  EXPECT_EQ(notes, GetParam().warnings);
}
INSTANTIATE_TEST_SUITE_P(Keys, FaultWarning,
                         testing::Values(Warning{"2", "25", 1}, Warning{"2", "2000", 0},
                                         Warning{"5", "0", 0}, Warning{"3", "0", 1}));

}  // namespace
}  // namespace npu::test
