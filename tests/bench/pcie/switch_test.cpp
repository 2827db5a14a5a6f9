// SPDX-License-Identifier: Apache-2.0
// Switches, several host bridges, multi-function devices: routing by bus, address and requester.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

// two_bridges(): 00:00.0 root port, 01:00.0 upstream port, 02:00.0 - 02:02.0 downstream ports,
// cards 03:00.0 and 05:00.0, empty slot 04; 80:00.0 root port, card 81:00.0 with 81:00.1.
constexpr Bdf kFirst{3, 0, 0}, kSecond{5, 0, 0}, kThird{0x81, 0, 0};

TEST(Topology, EnumeratesEveryFunctionAndNothingElse) {
  PcieBench bench(two_bridges());
  std::vector<std::string> found;
  for (unsigned packed = 0; packed < 0x10000; ++packed) {
    const auto bdf = Bdf::unpack(static_cast<std::uint16_t>(packed));
    if (bench.fabric.peek_config(bdf, 0) != pci::kAllOnes) found.push_back(to_string(bdf));
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"00:00.0", "01:00.0", "02:00.0", "02:01.0", "02:02.0",
                                      "03:00.0", "05:00.0", "80:00.0", "81:00.0", "81:00.1"}));
}

TEST(Topology, TimedConfigurationAccessesFindTheSame) {
  PcieBench bench(two_bridges());
  bench.run([&] {
    for (const Bdf bdf : {kFirst, kSecond, kThird, Bdf{0x81, 0, 1}, Bdf{2, 1, 0}, Bdf{1, 0, 0}}) {
      EXPECT_EQ(bench.config_read(bdf, 0), bench.fabric.peek_config(bdf, 0)) << to_string(bdf);
      EXPECT_EQ(bench.completion, model::Completion::kSuccess);
    }
    for (const Bdf bdf : {Bdf{4, 0, 0}, Bdf{2, 3, 0}, Bdf{3, 1, 0}, Bdf{6, 0, 0}, Bdf{0x81, 0, 2},
                          Bdf{0x80, 1, 0}, Bdf{0x82, 0, 0}, Bdf{1, 1, 0}, Bdf{2, 0, 1}}) {
      EXPECT_EQ(bench.config_read(bdf, 0), pci::kAllOnes) << to_string(bdf);
    }
  });
}

TEST(Topology, SecondFunctionHasNoBarsAndSaysMultiFunction) {
  PcieBench bench(two_bridges());
  EXPECT_EQ(bench.fabric.peek_config(kThird, 0x0C) >> 16 & 0xFF, 0x80U);
  EXPECT_EQ(bench.fabric.peek_config({0x81, 0, 1}, pci::kBar0), 0U);
}

TEST(Switch, MemoryRequestsReachTheCardTheyAreFor) {
  PcieBench bench(two_bridges());
  bench.run([&] {
    bench.write(bench.bar(0, kFirst) + 0x10, 1);
    bench.write(bench.bar(0, kSecond) + 0x10, 2);
    bench.write(bench.bar(2, kThird) + 0x10, 3, 8);
    EXPECT_EQ(bench.read(bench.bar(0, kSecond) + 0x10), 2U);
  });
  EXPECT_EQ(bench.chips[0]->register_writes.at(0).value, 1U);
  EXPECT_EQ(bench.chips[1]->register_writes.at(0).value, 2U);
  EXPECT_EQ(bench.chips[2]->memory_writes.at(0).value, 3U);
}

TEST(Switch, AddsItsLatencyAndASecondLink) {
  PcieBench bench(two_bridges());
  bench.run([&] { bench.write(bench.bar(0, kSecond), 1); });
  const std::uint64_t wire = (28 * 65'000 + 2047) / 2048;
  EXPECT_EQ(bench.chips[1]->register_writes.at(0).when,
            60'000 + wire + 50'000 + 100'000 + wire + 50'000 + 20'000);
}

TEST(Switch, AddressBetweenTheCardsIsAnUnsupportedRequest) {
  PcieBench bench(two_bridges());
  bench.run([&] {
    const auto gap = bench.bar(0, kFirst) + 900_KiB;  // inside the bridge windows, in no BAR
    EXPECT_EQ(bench.read(gap), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kUnsupportedRequest);
  });
}

TEST(Switch, CompletionsOfBothCardsFindTheirRequester) {
  PcieBench bench(two_bridges());
  bench.memory.bytes[0] = std::byte{1};
  bench.memory.bytes[4096] = std::byte{2};
  bench.run([&] {
    bench.enable_bus_master(kFirst);
    bench.enable_bus_master(kSecond);
    bench.chips[0]->read(StandInHostMemory::kBase, 64);
    bench.chips[1]->read(StandInHostMemory::kBase + 4096, 64);
    bench.wait(5_us);
  });
  EXPECT_EQ(bench.chips[0]->answers.at(0).data[0], 1);
  EXPECT_EQ(bench.chips[1]->answers.at(0).data[0], 2);
}

TEST(Switch, CardReachesItsNeighbourThroughTheRoot) {
  PcieBench bench(two_bridges());
  bench.chips[1]->values[0x40] = 0xBEEF;
  bench.run([&] {
    bench.enable_bus_master(kFirst);
    bench.chips[0]->write(bench.bar(2, kSecond) + 0x80, {5, 0, 0, 0});
    bench.chips[0]->read(bench.bar(2, kSecond) + 0x40, 8);
    bench.wait(5_us);
  });
  EXPECT_EQ(bench.chips[1]->memory_writes.at(0).value, 5U);
  ASSERT_EQ(bench.chips[0]->answers.size(), 1U);
  EXPECT_EQ(bench.chips[0]->answers[0].completion, model::Completion::kSuccess);
  EXPECT_EQ(bench.chips[0]->answers[0].data[0], 0xEF);
}

TEST(Switch, ARedirectedCardDoesNotReachItsNeighbour) {
  PcieBench bench(two_bridges());
  bench.fabric.root_complex().redirect_peers();
  bench.run([&] {
    bench.enable_bus_master(kFirst);
    bench.chips[0]->write(bench.bar(2, kSecond) + 0x80, {5, 0, 0, 0});
    bench.chips[0]->read(bench.bar(2, kSecond) + 0x40, 8);
    bench.wait(5_us);
  });
  EXPECT_TRUE(bench.chips[1]->memory_writes.empty());
  ASSERT_EQ(bench.chips[0]->answers.size(), 1U);
  EXPECT_EQ(bench.chips[0]->answers[0].completion, model::Completion::kUnsupportedRequest);
}

TEST(Switch, BridgeWithoutBusMasteringStopsItsCards) {
  PcieBench bench(two_bridges());
  bench.run([&] {
    bench.enable_bus_master(kFirst);
    bench.config_write({2, 0, 0}, pci::kCommand, pci::kCommandMemory, 2);
    bench.chips[0]->read(StandInHostMemory::kBase, 64);
    bench.chips[0]->write(StandInHostMemory::kBase, {1});
    bench.wait(5_us);
  });
  EXPECT_EQ(bench.chips[0]->answers.at(0).completion, model::Completion::kUnsupportedRequest);
  EXPECT_TRUE(bench.memory.writes.empty());
}

TEST(Switch, SharedUplinkHoldsBackBothCards) {
  PcieBench bench(two_bridges());
  constexpr unsigned kEach = 100;
  bench.run([&] {
    bench.enable_bus_master(kFirst);
    bench.enable_bus_master(kSecond);
    for (unsigned i = 0; i < kEach; ++i) {
      for (unsigned card : {0U, 1U}) {
        bench.chips[card]->write(StandInHostMemory::kBase + i * 4096,
                                 std::vector<unsigned char>(4096));
      }
    }
  });
  ASSERT_EQ(bench.memory.writes.size(), 2 * kEach);
  const std::uint64_t train = (16 * (8 + 16 + 4 + 256) * 65'000ULL + 2047) / 2048;
  EXPECT_EQ(bench.memory.writes.back().when - bench.memory.writes.front().when,
            (2 * kEach - 1) * train);
}

}  // namespace
}  // namespace npu::test
