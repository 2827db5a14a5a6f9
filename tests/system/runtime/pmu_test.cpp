// SPDX-License-Identifier: Apache-2.0
// What the cores' PMUs counted during a run.
#include <set>

#include "npu/abi/pmu.hpp"
#include "tests/system/runtime/runtime_card.hpp"

namespace npu::test {
namespace {

// Places of the pipes' group (runtime.md A5): 55 instruction cache misses, 54 requests.
constexpr unsigned kMisses = 6, kRequests = 7;
constexpr unsigned kTasks = 5;

driver::RunReport run_counted(RuntimeCard& card, unsigned group, abi::HandshakeKind handshake) {
  TaskGraph graph;
  for (unsigned i = 0; i < kTasks; ++i) card.add(graph, KernelMode::kStore, i, i);
  card.options.pmu_group = group;
  card.options.handshake = handshake;
  return must(card.run(graph));
}

std::uint64_t sum_of(const driver::RunReport& report, unsigned counter) {
  std::uint64_t sum = 0;
  for (const auto& record : report.pmu) sum += record.counters[counter];
  return sum;
}

TEST(RunPmu, CountsOnEveryCoreOfTheRunWithBothHandshakes) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeCard card(platform);
    for (const auto handshake : {abi::HandshakeKind::kRegister, abi::HandshakeKind::kMemory}) {
      const auto report = run_counted(card, abi::kPmuPipes, handshake);
      ASSERT_EQ(report.pmu.size(), 72U);
      std::set<std::uint32_t> cores;
      for (const auto& record : report.pmu) {
        EXPECT_EQ(record.group, abi::kPmuPipes);
        EXPECT_GT(record.clocks, 0U);
        cores.insert(record.physical_core);
      }
      EXPECT_EQ(cores.size(), 72U);
      EXPECT_EQ(sum_of(report, kRequests), kTasks) << "one program asked for by each task";
      EXPECT_LE(sum_of(report, kMisses), kTasks);
    }
  });
}

TEST(RunPmu, UnknownGroupsAreThePipesAndUnknownEventsSaySo) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeCard card(platform);
    EXPECT_EQ(run_counted(card, 3, abi::HandshakeKind::kRegister).pmu[0].group, abi::kPmuPipes);
    const auto report = run_counted(card, 8, abi::HandshakeKind::kRegister);
    EXPECT_EQ(report.pmu[0].group, 8U);
    EXPECT_EQ(report.pmu[0].counters[0], abi::kPmuUnknown) << "the model has no L2 events";
    EXPECT_EQ(report.pmu[0].counters[7], 0U) << "the group has six events";
  });
}

TEST(RunPmu, IsOffUnlessAskedFor) {
  Machine machine({}, "910b2.yaml");
  machine.run([](platform::Platform& platform) {
    RuntimeCard card(platform);
    EXPECT_TRUE(run_counted(card, 0, abi::HandshakeKind::kRegister).pmu.empty());
  });
}

}  // namespace
}  // namespace npu::test
