// SPDX-License-Identifier: Apache-2.0
// What the cores' PMUs counted during a run.
#include <set>

#include "kernels/device/shipped/elementwise.hpp"
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
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
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
      EXPECT_GE(sum_of(report, kRequests), kTasks) << "lines of code, one by each task at least";
      EXPECT_LE(sum_of(report, kMisses), sum_of(report, kRequests));
    }
  });
}

TEST(RunPmu, UnknownGroupsAreThePipesAndUnknownEventsSaySo) {
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
    EXPECT_EQ(run_counted(card, 3, abi::HandshakeKind::kRegister).pmu[0].group, abi::kPmuPipes);
    const auto report = run_counted(card, 6, abi::HandshakeKind::kRegister);
    EXPECT_EQ(report.pmu[0].group, 6U);
    EXPECT_EQ(report.pmu[0].counters[0], abi::kPmuUnknown) << "buffers of the model have no banks";
    EXPECT_EQ(report.pmu[0].counters[7], 0U) << "the group has three events";
  });
}

constexpr KernelId kAdder{5};

// c = a + b of 64 KiB each, on one core, twice.
std::vector<std::uint32_t> added(RuntimeCard& card, const std::vector<DeviceAddress>& tensors,
                                 unsigned group) {
  kernels::vector::Elementwise work;
  work.to = tensors[2].value, work.a = tensors[0].value, work.b = tensors[1].value;
  work.count = 16384;
  std::vector<driver::TaskArgument> arguments;
  for (const auto word : kernels::vector::to_words(work)) {
    arguments.push_back(driver::scalar(word));
  }
  TaskGraph graph;
  must(graph.add(kAdder, TaskShape::kAiv, arguments));
  card.options.pmu_group = group;
  const auto report = must(card.context->run(graph, card.options));
  std::vector<std::uint32_t> sums(abi::kPmuCounters);
  for (const auto& record : report.pmu) {
    if (record.core_type != static_cast<std::uint32_t>(abi::CoreType::kAiv)) continue;
    for (unsigned i = 0; i < abi::kPmuCounters; ++i) sums[i] += record.counters[i];
  }
  return sums;
}

TEST(RunPmu, CountsWhatTheL2HadOfGlobalMemory) {
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
    const auto image = must(workloads::program_image("elementwise"));
    ASSERT_THAT(card.context->register_kernel(kAdder, image), IsOk());
    std::vector<DeviceAddress> tensors(3);
    for (auto& tensor : tensors) tensor = must(card.context->allocate(65'536));
    const auto cold = added(card, tensors, 8), warm = added(card, tensors, 8);
    constexpr unsigned kWriteHits = 0, kReadHits = 2, kReadMisses = 3;
    constexpr std::uint32_t kLines = 65'536 / 512;
    EXPECT_GE(cold[kReadMisses], 2 * kLines) << "nobody has read the tensors before";
    EXPECT_LT(warm[kReadMisses], kLines / 8);
    EXPECT_GE(warm[kReadHits], 2 * kLines);
    EXPECT_EQ(warm[kWriteHits], kLines);
    const auto memory = added(card, tensors, 4);
    EXPECT_EQ(memory[0], 3U * 65'536 / 128) << "what MTE3 and the vector unit read of UB";
    EXPECT_EQ(memory[1], 3U * 65'536 / 128);
    EXPECT_EQ(memory[5], 65'536U / 256) << "all that is written is in the L2";
    EXPECT_EQ(memory[7], 65'536U / 256);
    EXPECT_GE(memory[6], 2U * 65'536 / 256);
    EXPECT_LE(memory[4], memory[6]);
  });
}

TEST(RunPmu, IsOffUnlessAskedFor) {
  Machine({}, "910b2.yaml").on<RuntimeCard>([](RuntimeCard& card) {
    EXPECT_TRUE(run_counted(card, 0, abi::HandshakeKind::kRegister).pmu.empty());
  });
}

}  // namespace
}  // namespace npu::test
