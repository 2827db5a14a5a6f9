// SPDX-License-Identifier: Apache-2.0
// The CPU's accesses to a card: times, absent functions, unsupported requests, timeouts.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

// Root complex 60 ns, propagation 50 ns, ingress 20 ns.
constexpr std::uint64_t kShortTlp = 8 + 12 + 4;  // framing, header, DLLPs
constexpr std::uint64_t kLongTlp = 8 + 16 + 4;

using HostAccess = OnBench<PcieBench>;

TEST_F(HostAccess, PostedWriteTakesRootComplexWirePropagationAndIngress) {
  bench.run([&] { bench.write(bench.bar(0) + 0x1010, 7); });
  ASSERT_EQ(bench.chip().register_writes.size(), 1U);
  EXPECT_EQ(bench.chip().register_writes[0].address, 0x1010U);
  EXPECT_EQ(bench.chip().register_writes[0].value, 7U);
  EXPECT_EQ(bench.chip().register_writes[0].when, 60'000 + wire(kShortTlp + 4) + 50'000 + 20'000);
}

TEST_F(HostAccess, PostedWriteDoesNotHoldTheCpu) {
  std::uint64_t returned = 1;
  bench.run([&] {
    bench.write(bench.bar(0), 7);
    returned = model::sim_now();
  });
  EXPECT_EQ(returned, 0U);
}

TEST_F(HostAccess, RegisterReadIsARoundTripWithRegisterAccess) {
  bench.chip().values[0x10] = 0xCAFE;
  std::uint64_t value = 0;
  std::uint64_t when = 0;
  bench.run([&] {
    value = bench.read(bench.bar(0) + 0x10);
    when = model::sim_now();
  });
  EXPECT_EQ(value, 0xCAFEU);
  EXPECT_EQ(when, 2 * (60'000 + 50'000) + wire(kShortTlp) + 20'000 + 40'000 + wire(kShortTlp + 4));
}

TEST_F(HostAccess, DeviceMemoryReadWaitsForMemoryInsteadOfRegisters) {
  bench.chip().values[0x1000] = 0x1122334455667788;
  std::uint64_t value = 0;
  std::uint64_t when = 0;
  bench.run([&] {
    value = bench.read(bench.bar(2) + 0x1000, 8);
    when = model::sim_now();
  });
  EXPECT_EQ(value, 0x1122334455667788U);
  EXPECT_EQ(when, 2 * (60'000 + 50'000) + wire(kLongTlp) + 20'000 + FakeChip::kMemoryLatency +
                      wire(kShortTlp + 8));
}

TEST_F(HostAccess, WritesArriveInTheOrderTheyWereIssued) {
  bench.run([&] {
    for (std::uint64_t i = 0; i < 100; ++i) bench.write(bench.bar(2) + 8 * (100 - i), i, 8);
  });
  ASSERT_EQ(bench.chip().memory_writes.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(bench.chip().memory_writes[i].value, i);
}

TEST_F(HostAccess, AReadPushesTheWritesBeforeIt) {
  std::uint64_t value = 0;
  bench.run([&] {
    bench.write(bench.bar(0) + 0x20, 42);
    value = bench.read(bench.bar(0) + 0x20);
  });
  EXPECT_EQ(value, 42U);
}

TEST_F(HostAccess, AbsentFunctionsReadAllOnesAndIgnoreWrites) {
  bench.run([&] {
    for (const Bdf bdf :
         {Bdf{0, 5, 0}, Bdf{0, 0, 1}, Bdf{1, 0, 1}, Bdf{1, 1, 0}, Bdf{2, 0, 0}, Bdf{77, 0, 0}}) {
      bench.config_write(bdf, 4, 0xFFFF, 2);
      EXPECT_EQ(bench.config_read(bdf, 0), pci::kAllOnes) << to_string(bdf);
      EXPECT_EQ(bench.config_read(bdf, 2, 2), 0xFFFFU);
      EXPECT_EQ(bench.completion, model::Completion::kUnsupportedRequest);
    }
  });
}

TEST_F(HostAccess, RootPortAnswersWithoutCrossingALink) {
  std::uint64_t when = 0;
  bench.run([&] {
    EXPECT_EQ(bench.config_read({0, 0, 0}, 0) & 0xFFFF, 0x19E5U);
    when = model::sim_now();
  });
  EXPECT_EQ(when, 2 * 60'000U);
}

// Unless the port forwards them as function numbers (ARI), as firmware has it.
TEST_F(HostAccess, OnlyDeviceZeroIsAskedBehindALink) {
  std::uint64_t begin = 0, end = 0;
  bench.run([&] {
    const auto express = bench.find_capability({0, 0, 0}, pci::kCapPciExpress);
    bench.config_write({0, 0, 0}, express + pci::kExpDeviceControl2, 0, 2);
    begin = model::sim_now();
    bench.config_read({1, 1, 0}, 0);
    end = model::sim_now();
  });
  EXPECT_EQ(end - begin, 2 * 60'000U);
}

TEST_F(HostAccess, AddressesNobodyClaimsReadAllOnes) {
  bench.run([&] {
    EXPECT_EQ(bench.read(0xF000'0000), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kUnsupportedRequest);
    bench.write(0xF000'0000, 1);
  });
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST_F(HostAccess, UnimplementedRegisterIsAnUnsupportedRequestLoggedInAer) {
  bench.run([&] {
    EXPECT_EQ(bench.read(bench.bar(0) + FakeChip::kBadRegister), 0xFFFF'FFFFU);
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    EXPECT_EQ(bench.config_read(kCard, aer + 4), pci::kAerUnsupportedRequest);
    EXPECT_EQ(bench.config_read(kCard, aer + 0x18) & 0x1F, 20U);
    EXPECT_EQ(bench.config_read(kCard, aer + 0x1C), 1U);  // MRd32 of one double word
    EXPECT_EQ(bench.config_read(kCard, aer + 0x24), bench.bar(0) + FakeChip::kBadRegister);
    bench.config_write(kCard, aer + 4, pci::kAerUnsupportedRequest);
    EXPECT_EQ(bench.config_read(kCard, aer + 4), 0U);
  });
}

TEST_F(HostAccess, LostCompletionEndsInAllOnesAtTheTimeout) {
  std::uint64_t when = 0;
  bench.run([&] {
    bench.endpoint().drop_next_completion(model::Endpoint::CompletionSide::kSent);
    EXPECT_EQ(bench.read(bench.bar(0)), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kTimeout);
    when = model::sim_now();
    bench.chip().values[0] = 5;
    EXPECT_EQ(bench.read(bench.bar(0)), 5U);
  });
  EXPECT_EQ(when, 100'000'000U);
}

TEST_F(HostAccess, PoisonedCompletionIsNotData) {
  bench.run([&] {
    bench.endpoint().poison_next_completion(model::Endpoint::CompletionSide::kSent);
    EXPECT_EQ(bench.read(bench.bar(0)), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kPoisoned);
  });
}

TEST_F(HostAccess, DeadLinkReadsAllOnesAndSwallowsWrites) {
  bench.run([&] {
    bench.fabric.link(0).set_down(true);
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    EXPECT_EQ(bench.read(bench.bar(0)), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kUnsupportedRequest);
    bench.write(bench.bar(0), 1);
    bench.wait(1_us);
  });
  EXPECT_TRUE(bench.chip().register_writes.empty());
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST_F(HostAccess, CompletionOnTheWireOfADyingLinkIsLost) {
  bench.chip().values[0] = 5;
  std::uint64_t value = 0;
  sc_core::sc_spawn([&] {
    bench.wait(200_ns);  // the completion is on its way
    bench.fabric.link(0).set_down(true);
  });
  bench.run([&] { value = bench.read(bench.bar(0)); });
  EXPECT_EQ(value, 0xFFFF'FFFFU);
}

}  // namespace
}  // namespace npu::test
