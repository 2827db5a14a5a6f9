// SPDX-License-Identifier: Apache-2.0
// What the card sends: reads and writes of host memory, translations, interrupts, errors.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

using Dma = OnBench<PcieBench>;

// Egress 15 ns, propagation 50 ns, root complex 60 ns, memory 100 ns, ingress 20 ns.
constexpr std::uint64_t kToMemory = 15'000 + 50'000 + 60'000 + 100'000;

TEST_F(Dma, WriteIsVisibleAfterEgressWirePropagationRootComplexAndMemory) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.wait(1_us);
    const std::uint64_t start = model::sim_now();
    bench.chip().write(kBuffer + 64, std::vector<unsigned char>(256, 0x5A));
    bench.wait(1_us);
    ASSERT_EQ(bench.memory.writes.size(), 1U);
    EXPECT_EQ(bench.memory.writes[0].when - start, kToMemory + wire(8 + 16 + 4 + 256));
    EXPECT_EQ(bench.memory.writes[0].address, kBuffer + 64);
    EXPECT_EQ(bench.memory.bytes[64 + 255], std::byte{0x5A});
  });
}

TEST_F(Dma, ReadReturnsDataOfTheTimeItIsServed) {
  bench.memory.bytes[3] = std::byte{0x77};
  bench.run([&] {
    bench.enable_bus_master();
    bench.wait(1_us);
    const std::uint64_t start = model::sim_now();
    bench.chip().read(kBuffer, 512);
    bench.wait(2_us);
    ASSERT_EQ(bench.chip().answers.size(), 1U);
    const auto& answer = bench.chip().answers[0];
    EXPECT_EQ(answer.completion, Completion::kSuccess);
    EXPECT_EQ(answer.data[3], 0x77);
    // One request, two completions of 256 bytes.
    EXPECT_EQ(answer.when - start, kToMemory + wire(8 + 16 + 4) + 60'000 + 50'000 + 20'000 +
                                       wire(2 * (8 + 12 + 4 + 256)));
  });
}

TEST_F(Dma, PostTellsWhenTheLastByteHasLeft) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.wait(1_us);
    const std::uint64_t start = model::sim_now();
    const std::uint64_t one = 16 * (8 + 16 + 4 + 256);
    EXPECT_EQ(bench.chip().write(kBuffer, std::vector<unsigned char>(4096)) - start,
              15'000 + wire(one));
    EXPECT_EQ(bench.chip().write(kBuffer, std::vector<unsigned char>(4096)) - start,
              15'000 + 2 * wire(one));
  });
}

TEST_F(Dma, SlowWriteHoldsBackTheFasterOneBehindIt) {
  bench.memory.latency_at[kBuffer] = 500_ns;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().write(kBuffer, {1});
    bench.chip().write(kBuffer + 64, {2});
    bench.wait(2_us);
  });
  ASSERT_EQ(bench.memory.writes.size(), 2U);
  EXPECT_EQ(bench.memory.writes[0].value & 0xFF, 1U);
  EXPECT_GE(bench.memory.writes[1].when, bench.memory.writes[0].when);
}

TEST_F(Dma, InterruptComesAfterTheWritesBeforeItAreVisible) {
  bench.memory.latency_at[kBuffer] = 500_ns;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().write(kBuffer, {1});
    bench.chip().write(0xFEE0'0000, {9, 0, 0, 0});
    bench.wait(2_us);
  });
  ASSERT_EQ(bench.interrupts.messages.size(), 1U);
  EXPECT_EQ(bench.interrupts.messages[0].value, 9U);
  EXPECT_EQ(bench.interrupts.messages[0].when, bench.memory.writes.at(0).when);
}

TEST_F(Dma, RegisterReadCompletionPushesTheWritesBeforeIt) {
  bench.memory.latency_at[kBuffer] = 5_us;
  std::size_t visible = 0;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().write(kBuffer, {1});
    bench.read(bench.bar(0));
    visible = bench.memory.writes.size();
  });
  EXPECT_EQ(visible, 1U);
}

TEST_F(Dma, TranslationTellsHowMuchIsMapped) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(kBuffer + 4096, 8, model::TransactionKind::kTranslation);
    bench.wait(2_us);
  });
  ASSERT_EQ(bench.chip().answers.size(), 1U);
  std::uint64_t mapped = 0;
  std::memcpy(&mapped, bench.chip().answers[0].data.data(), 8);
  EXPECT_EQ(mapped, (1U << 20) - 4096);
}

TEST_F(Dma, UnmappedReadIsAnUnsupportedRequest) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(0x9'0000'0000, 64);
    bench.wait(2_us);
    ASSERT_EQ(bench.chip().answers.size(), 1U);
    EXPECT_EQ(bench.chip().answers[0].completion, Completion::kUnsupportedRequest);
    EXPECT_EQ(bench.chip().answers[0].data[0], 0xFF);
    EXPECT_EQ(bench.config_read(kCard, pci::kStatus, 2) & 0x2000, 0x2000U);  // master abort
  });
}

TEST_F(Dma, WithoutBusMasteringReadsAbortAndWritesComeBack) {
  bench.run([&] {
    bench.chip().read(kBuffer, 64);
    bench.chip().read(kBuffer, 8, model::TransactionKind::kTranslation);
    bench.chip().write(kBuffer, {1});
    bench.wait(1_us);
    ASSERT_EQ(bench.chip().answers.size(), 2U);
    EXPECT_EQ(bench.chip().answers[0].completion, Completion::kCompleterAbort);
    EXPECT_EQ(bench.chip().answers[1].completion, Completion::kCompleterAbort);
    EXPECT_TRUE(bench.memory.writes.empty());
    EXPECT_EQ(bench.chip().refused, std::vector<Completion>{Completion::kCompleterAbort});
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    EXPECT_EQ(bench.config_read(kCard, aer + 4), 1U << 22);
  });
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST_F(Dma, LostCompletionTimesOutAndIsLogged) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.endpoint().drop_next_completion(model::Endpoint::CompletionSide::kReceived);
    const std::uint64_t start = model::sim_now();
    bench.chip().read(kBuffer, 64);
    bench.chip().read(kBuffer, 64);
    bench.wait(60_us);
    ASSERT_EQ(bench.chip().answers.size(), 2U);
    EXPECT_EQ(bench.chip().answers[0].completion, Completion::kSuccess);
    EXPECT_EQ(bench.chip().answers[1].completion, Completion::kTimeout);
    EXPECT_EQ(bench.chip().answers[1].when - start, 50'000'000U);
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    EXPECT_EQ(bench.config_read(kCard, aer + 4), pci::kAerCompletionTimeout);
  });
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST_F(Dma, CompletionAfterTheTimeoutTouchesNobodysMemory) {
  bench.memory.latency_at[kBuffer] = 60_us;  // later than the card waits
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(kBuffer, 64);
    bench.wait(100_us);
  });
  ASSERT_EQ(bench.chip().answers.size(), 1U);
  EXPECT_EQ(bench.chip().answers[0].completion, Completion::kTimeout);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST_F(Dma, CompletionAfterTheTimeoutDoesNotDisturbTheNextRead) {
  bench.memory.bytes[0] = std::byte{0xAA};
  bench.memory.bytes[4096] = std::byte{0xBB};
  bench.memory.latency_at[kBuffer] = 55'150_ns;  // its data moves while the next read's come back
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(kBuffer, 64);
    bench.wait(55_us);
    bench.chip().read(kBuffer + 4096, 64);
    bench.wait(10_us);
  });
  ASSERT_EQ(bench.chip().answers.size(), 2U);
  EXPECT_EQ(bench.chip().answers[0].completion, Completion::kTimeout);
  EXPECT_EQ(bench.chip().answers[1].completion, Completion::kSuccess);
  EXPECT_EQ(bench.chip().answers[1].data[0], 0xBB);
}

TEST_F(Dma, PoisonedCompletionIsReportedAndLogged) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.endpoint().poison_next_completion(model::Endpoint::CompletionSide::kReceived);
    bench.chip().read(kBuffer, 64);
    bench.wait(2_us);
    ASSERT_EQ(bench.chip().answers.size(), 1U);
    EXPECT_EQ(bench.chip().answers[0].completion, Completion::kPoisoned);
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    EXPECT_EQ(bench.config_read(kCard, aer + 4), pci::kAerPoisoned);
  });
}

// A card without a link is in reset, and then without bus mastering.
TEST_F(Dma, DeadLinkFailsReadsAndSwallowsWrites) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.fabric.link(0).set_down(true);
    bench.chip().read(kBuffer, 64);
    bench.wait(2_ms);
    bench.chip().read(kBuffer, 64);
    bench.chip().write(kBuffer, {1});
    bench.wait(2_us);
  });
  ASSERT_EQ(bench.chip().answers.size(), 2U);
  for (const auto& answer : bench.chip().answers) {
    EXPECT_EQ(answer.completion, Completion::kCompleterAbort);
  }
  EXPECT_TRUE(bench.memory.writes.empty());
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

// PCIe 7.8.8.3: without PASID Enable a function must not send any.
TEST_F(Dma, CarriesAPasidOnlyWhereTheSystemHasEnabledThem) {
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().pasid = 7;
    bench.chip().read(StandInHostMemory::kBase, 64);
    bench.chip().write(StandInHostMemory::kBase, {1, 2, 3, 4});
    bench.wait(5_us);
    for (const auto pasid : bench.memory.pasids) EXPECT_EQ(pasid, 0U);
    bench.memory.pasids.clear();
    const auto at = bench.find_extended(kCard, pci::kExtPasid);
    bench.config_write(kCard, at + pci::kPasidControl, pci::kPasidControlEnable, 2);
    bench.chip().read(StandInHostMemory::kBase, 64);
    bench.chip().write(StandInHostMemory::kBase, {1, 2, 3, 4});
    bench.wait(5_us);
  });
  EXPECT_GE(bench.memory.pasids.size(), 2U);
  for (const auto pasid : bench.memory.pasids) EXPECT_EQ(pasid, 7U);
}

}  // namespace
}  // namespace npu::test
