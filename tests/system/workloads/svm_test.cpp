// SPDX-License-Identifier: Apache-2.0
// Managed memory's workloads: parts that add up, keys that move their parts, counts that are known.
#include "tests/system/workloads/fault_parts.hpp"

namespace npu::test {
namespace {

class SvmFault : public testing::TestWithParam<const char*> {};

TEST_P(SvmFault, PartsAddUpToThePicosecond) {
  Machine machine;
  const auto report = machine.workload("svm_fault", {std::string("policy=") + GetParam()});
  for (const std::string prefix : {"svm_fault", "svm_fault.untouched", "svm_fault.read_only"}) {
    const auto parts = parts_of(report, prefix);
    EXPECT_GE(parts.size(), 9U);
    std::int64_t sum = 0;
    for (const auto& [name, time] : parts) sum += time;
    EXPECT_EQ(sum, value_of(report, prefix + ".latency_us")) << prefix;
  }
  // A page of 2 MiB, or a part of 64 KiB.
  const bool whole = GetParam() == std::string("message");
  EXPECT_GT(value_of(report, "svm_fault.breakdown.copy_us"), whole ? 70'000'000 : 2'500'000);
  for (const std::string page : {"untouched", "read_only"}) {
    EXPECT_EQ(value_of(report, "svm_fault." + page + ".breakdown.copy_us"), 0);
  }
  EXPECT_EQ(value_of(report, "svm_fault.breakdown.invalidation_us"), 0);
  EXPECT_GT(value_of(report, "svm_fault.read_only.breakdown.invalidation_us"), 500'000);
}

INSTANTIATE_TEST_SUITE_P(Policies, SvmFault, testing::Values("message", "batch"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(SvmFaultInPlace, PartsAddUpToThePicosecond) {
  Machine machine({"mmu.fault_policy=ats"});
  const auto report = machine.workload("svm_fault", {"policy=ats"});
  for (const std::string prefix : {"svm_fault", "svm_fault.untouched", "svm_fault.read_only"}) {
    const auto parts = parts_of(report, prefix);
    EXPECT_EQ(parts.size(), prefix == "svm_fault" ? 2U : 9U)
        << "the host has a page that it filled";
    std::int64_t sum = 0;
    for (const auto& [name, time] : parts) sum += time;
    EXPECT_EQ(sum, value_of(report, prefix + ".latency_us")) << prefix;
  }
}

TEST(SvmTouchInPlace, CopiesNothing) {
  Machine machine({"mmu.fault_policy=ats"});
  const auto report = machine.workload("svm_touch", {"pages=8", "access=write"});
  for (const std::string order : {"sequential", "strided", "random"}) {
    EXPECT_EQ(value_of(report, "svm_touch." + order + ".faults"), 0);
    EXPECT_EQ(value_of(report, "svm_touch." + order + ".migrated_to_card_bytes"), 0);
    EXPECT_EQ(value_of(report, "svm_touch." + order + ".migrated_to_host_bytes"), 0);
  }
}

TEST(SvmGraphInPlace, ReadsAndWritesTensorsOverTheLink) {
  Machine machine({"mmu.fault_policy=ats"});
  const auto report =
      machine.workload("svm_graph", {"graph=" + source_dir() + "/workloads/graphs/managed.yaml",
                                     "parameters=pieces=8,height=512"});
  EXPECT_EQ(value_of(report, "svm_graph.evictions"), 0);
  EXPECT_EQ(value_of(report, "svm_graph.elements_compared"), std::int64_t{8 * 512 * 1024});
}

TEST(SvmTouch, PagesThatTheHostHasFilledComeOneByOne) {
  Machine machine;
  const auto report = machine.workload("svm_touch", {"pages=24"});
  for (const std::string order : {"sequential", "strided", "random"}) {
    const auto prefix = "svm_touch." + order;
    EXPECT_EQ(value_of(report, prefix + ".faults"), 24);
    EXPECT_EQ(value_of(report, prefix + ".migrated_to_card_bytes"), 24 * std::int64_t{2 << 20});
    EXPECT_EQ(value_of(report, prefix + ".migrated_to_host_bytes"), 0);
  }
}

TEST(SvmTouch, PagesThatTheCardHasComeBackToWhoTouchesThem) {
  Machine machine;
  const auto report = machine.workload("svm_touch", {"pages=5", "by=host", "orders=random"});
  EXPECT_EQ(value_of(report, "svm_touch.random.faults"), 5);
  EXPECT_EQ(value_of(report, "svm_touch.random.migrated_to_host_bytes"), 5 * std::int64_t{2 << 20});
}

TEST(SvmTouch, DensityCutsTheBatchesOfASequentialPassMost) {
  Machine machine;
  std::int64_t batches[2][2] = {};
  for (const bool with : {false, true}) {
    const auto report = machine.workload(
        "svm_touch", {"pages=2", "step=4KiB", "orders=sequential,random", "policy=batch",
                      std::string("density=") + (with ? "51" : "0")});
    batches[0][with ? 1 : 0] = value_of(report, "svm_touch.sequential.batches");
    batches[1][with ? 1 : 0] = value_of(report, "svm_touch.random.batches");
    EXPECT_LE(value_of(report, "svm_touch.sequential.largest_batch"), 256);
    EXPECT_EQ(value_of(report, "svm_touch.sequential.migrated_to_card_bytes"), 2 * 2 << 20);
  }
  EXPECT_EQ(batches[0][0], 2 * 512);
  EXPECT_EQ(batches[0][1], 2 * 6);
  EXPECT_GT(batches[1][1], 2 * batches[0][1]) << "random access is helped far less";
}

class SvmPrefetch : public testing::TestWithParam<const char*> {};

// Against plain copies of as much from the same machine, both ways.
TEST_P(SvmPrefetch, NoFaultsAndNinetyPercentOfTheLinksRate) {
  Machine machine({}, GetParam());
  const auto link = machine.workload(
      "dma_bandwidth", {"sizes=2MiB", "directions=h2d,d2h", "bytes=32MiB", "depths=16"});
  for (const std::string policy : {"message", "batch"}) {
    const auto report = machine.workload("svm_prefetch", {"pages=32", "policy=" + policy});
    for (const auto& [way, rate] :
         Parts{{"svm_prefetch", value_of(link, "dma.h2d.2MiB.bandwidth_gb_per_s")},
               {"svm_prefetch.to_host", value_of(link, "dma.d2h.2MiB.bandwidth_gb_per_s")}}) {
      EXPECT_EQ(value_of(report, way + ".faults"), 0);
      EXPECT_EQ(value_of(report, way + ".bytes"), std::int64_t{64 << 20});
      EXPECT_GE(value_of(report, way + ".bandwidth_gb_per_s"), rate * 9 / 10) << way << policy;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, SvmPrefetch,
                         testing::Values("910b2.yaml", "950pr.yaml", "910a.yaml"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

class SvmGraph : public testing::TestWithParam<const char*> {};

// Pieces of a page each: more pages are wanted at once than there are, and copies of a core that
// are in flight lose theirs.
TEST_P(SvmGraph, ComputesWhatItShouldWithTooLittleMemory) {
  Machine machine;
  const auto report =
      machine.workload("svm_graph", {"graph=" + source_dir() + "/workloads/graphs/managed.yaml",
                                     "parameters=pieces=8,height=512", "ratio=200",
                                     std::string("policy=") + GetParam()});
  EXPECT_EQ(value_of(report, "svm_graph.managed_bytes"), std::int64_t{64 << 20});
  EXPECT_EQ(value_of(report, "svm_graph.memory_bytes"), std::int64_t{32 << 20});
  EXPECT_EQ(value_of(report, "svm_graph.elements_compared"), std::int64_t{8 * 512 * 1024});
  EXPECT_GT(value_of(report, "svm_graph.evictions"), 16);
  EXPECT_GT(value_of(report, "svm_graph.slowdown"), 1000);
}

INSTANTIATE_TEST_SUITE_P(Policies, SvmGraph, testing::Values("message", "batch"),
                         [](const auto& instance) { return std::string(instance.param); });

class SvmPolicy : public testing::TestWithParam<const char*> {};

// The pager's signal, and a whole page, tell who has served.
TEST_P(SvmPolicy, IsTheCardsUnlessTheRunSaysOtherwise) {
  Machine machine({std::string("cards.0.mmu.fault_policy=") + GetParam()});
  for (const std::string policy : {"card", "message", "batch"}) {
    const auto report = machine.workload("svm_fault", {"policy=" + policy, "faults=1"});
    const bool message = (policy == "card" ? GetParam() : policy) == "message";
    EXPECT_EQ(report.find("svm_fault.breakdown.signal_us") != nullptr, message);
    EXPECT_EQ(value_of(report, "svm_fault.breakdown.copy_us") > 20'000'000, message);
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, SvmPolicy, testing::Values("message", "batch"),
                         [](const auto& instance) { return std::string(instance.param); });

class SvmFaultKeys : public testing::TestWithParam<PartKey> {};

TEST_P(SvmFaultKeys, MoveTheirPartsAlone) {
  expect_to_move(GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Keys, SvmFaultKeys,
    testing::Values(PartKey{"fault_batch",
                            "batch",
                            "untouched",
                            "cards.0.mmu.fault_ns=0",
                            "cards.0.mmu.fault_ns=1000",
                            {{"message", kMicrosecond}}},
                    PartKey{"interrupt_batch",
                            "batch",
                            "untouched",
                            "cpu.interrupt_ns=100",
                            "cpu.interrupt_ns=1100",
                            {{"interrupt", kMicrosecond}}},
                    PartKey{"wake_batch",
                            "batch",
                            "untouched",
                            "cpu.wake_ns=1000",
                            "cpu.wake_ns=3000",
                            {{"driver", 2 * kMicrosecond}}},
                    // The first access to the window of managed memory reads an entry of each of
                    // three levels; at the replay those above the last are cached.
                    PartKey{"walk_batch",
                            "batch",
                            "untouched",
                            "cards.0.mmu.walk_step_ns=0",
                            "cards.0.mmu.walk_step_ns=1000",
                            {{"walk", 3 * kMicrosecond}, {"replay", kMicrosecond}}},
                    PartKey{"link_batch",
                            "batch",
                            "untouched",
                            "cards.0.link.propagation_ns=100",
                            "cards.0.link.propagation_ns=1100",
                            {{"message", kMicrosecond}, {"reply", kMicrosecond}}},
                    // An engine is set up for the page's copy, and once more for the access, which
                    // has given its engine up while the page was away.
                    PartKey{"copy_batch",
                            "batch",
                            "filled",
                            "cards.0.dma.engine_setup_ns=100",
                            "cards.0.dma.engine_setup_ns=1100",
                            {{"copy", kMicrosecond}, {"replay", kMicrosecond}}},
                    PartKey{"invalidation_batch",
                            "batch",
                            "read_only",
                            "cards.0.mmu.invalidate_ns=100",
                            "cards.0.mmu.invalidate_ns=1100",
                            {{"invalidation", kMicrosecond}}},
                    PartKey{"fault_message",
                            "message",
                            "untouched",
                            "cards.0.mmu.fault_ns=0",
                            "cards.0.mmu.fault_ns=1000",
                            {{"signal", kMicrosecond}}},
                    PartKey{"interrupt_message",
                            "message",
                            "untouched",
                            "cpu.interrupt_ns=100",
                            "cpu.interrupt_ns=1100",
                            {{"interrupt", kMicrosecond}}},
                    PartKey{"wake_message",
                            "message",
                            "untouched",
                            "cpu.wake_ns=1000",
                            "cpu.wake_ns=3000",
                            {{"driver", 2 * kMicrosecond}}},
                    PartKey{"link_message",
                            "message",
                            "untouched",
                            "cards.0.link.propagation_ns=100",
                            "cards.0.link.propagation_ns=1100",
                            {{"message", kMicrosecond}, {"reply", kMicrosecond}}},
                    PartKey{"copy_message",
                            "message",
                            "filled",
                            "cards.0.dma.engine_setup_ns=100",
                            "cards.0.dma.engine_setup_ns=1100",
                            {{"copy", kMicrosecond}, {"replay", kMicrosecond}}},
                    PartKey{"invalidation_message",
                            "message",
                            "read_only",
                            "cards.0.mmu.invalidate_ns=100",
                            "cards.0.mmu.invalidate_ns=1100",
                            {{"invalidation", kMicrosecond}}},
                    PartKey{"store_message",
                            "message",
                            "untouched",
                            "cards.0.aicpu_core.store_done_ns=40",
                            "cards.0.aicpu_core.store_done_ns=1040",
                            {{"table", kMicrosecond}}},
                    PartKey{"walk_ats",
                            "ats",
                            "untouched",
                            "cards.0.mmu.walk_step_ns=0",
                            "cards.0.mmu.walk_step_ns=1000",
                            {{"walk", 3 * kMicrosecond}}},
                    // A translation goes there and back.
                    PartKey{"link_ats",
                            "ats",
                            "untouched",
                            "cards.0.link.propagation_ns=100",
                            "cards.0.link.propagation_ns=1100",
                            {{"translation", 2 * kMicrosecond},
                             {"message", kMicrosecond},
                             {"reply", kMicrosecond},
                             {"replay", 2 * kMicrosecond}}},
                    PartKey{"lookup_ats",
                            "ats",
                            "untouched",
                            "memory.iommu_lookup_ns=100",
                            "memory.iommu_lookup_ns=1100",
                            {{"translation", kMicrosecond}, {"replay", kMicrosecond}}},
                    PartKey{"interrupt_ats",
                            "ats",
                            "untouched",
                            "cpu.interrupt_ns=100",
                            "cpu.interrupt_ns=1100",
                            {{"interrupt", kMicrosecond}}},
                    PartKey{"wake_ats",
                            "ats",
                            "untouched",
                            "cpu.wake_ns=1000",
                            "cpu.wake_ns=3000",
                            {{"driver", 2 * kMicrosecond}}},
                    PartKey{"table_ats",
                            "ats",
                            "untouched",
                            "memory.iommu_map_ns=100",
                            "memory.iommu_map_ns=1100",
                            {{"table", kMicrosecond}}}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace npu::test
