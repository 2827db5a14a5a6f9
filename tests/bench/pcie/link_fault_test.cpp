// SPDX-License-Identifier: Apache-2.0
// A link that trains to another rate and width, and TLPs that arrive damaged (PCIe Base 4.0, 3.6.2,
// 4.2.6.4): times, and what both ends tell of it.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

using model::Link;

constexpr Bdf kUpperEnd{0, 0, 0};
constexpr std::uint64_t kRecovery = 10'000'000;
constexpr std::uint64_t kOneWay = 50'000;

struct LinkFaultBench : PcieBench {
  using PcieBench::PcieBench;
  // Of a register read, to and fro.
  std::uint64_t read_time() {
    const auto begin = model::sim_now();
    read(bar(0) + 0x10);
    return model::sim_now() - begin;
  }
  // Generation, lanes.
  std::pair<unsigned, unsigned> link_status(Bdf bdf) {
    const auto express = find_capability(bdf, pci::kCapPciExpress);
    const auto status = config_read(bdf, express + pci::kExpLinkStatus, 2);
    return {status & 0xF, status >> 4 & 0x3F};
  }
  bool tells_bad_tlp(Bdf bdf) {
    const auto aer = find_extended(bdf, pci::kExtAer);
    return (config_read(bdf, aer + pci::kAerCorrectableStatus) & pci::kAerBadTlp) != 0;
  }
  bool tells_correctable(Bdf bdf) {
    const auto express = find_capability(bdf, pci::kCapPciExpress);
    return (config_read(bdf, express + pci::kExpDeviceStatus, 2) &
            pci::kExpDeviceStatusCorrectable) != 0;
  }
};

// Framing, header, DLLPs; the completion has 4 bytes of data.
constexpr std::uint64_t kBytes = 24 + 28;

TEST(Retrained, SlowsWhatIsSentAndIsToldAtBothEnds) {
  on_bench<LinkFaultBench>([](LinkFaultBench& bench) {
    const auto usual = bench.read_time();
    bench.fabric.link(0).retrain(1, 1);
    bench.wait(20_us);
    // 2.5 GT/s, ten bits a byte: 4 ns.
    EXPECT_EQ(bench.read_time(), usual - wire(24) - wire(28) + kBytes * 4'000);
    for (const auto bdf : {kUpperEnd, kCard}) {
      EXPECT_EQ(bench.link_status(bdf), std::make_pair(1U, 1U));
    }
    bench.fabric.link(0).retrain(4, 16);
    bench.wait(20_us);
    EXPECT_EQ(bench.read_time(), usual);
    for (const auto bdf : {kUpperEnd, kCard}) {
      EXPECT_EQ(bench.link_status(bdf), std::make_pair(4U, 16U));
    }
  });
}

TEST(Retrained, CarriesNothingWhileItTrainsAndLosesNothing) {
  LinkFaultBench bench;
  bench.run([&] {
    bench.write(bench.bar(0) + 0x10, 1);  // on the wire
    bench.wait(70_ns);
    bench.fabric.link(0).retrain(3, 8);
    bench.write(bench.bar(0) + 0x14, 2);
  });
  ASSERT_EQ(bench.chip().register_writes.size(), 2U);
  EXPECT_LT(bench.chip().register_writes[0].when, 200'000U);
  EXPECT_GE(bench.chip().register_writes[1].when, 70'000 + kRecovery);
}

TEST(Retrained, StaysSoThroughAResetOfTheCard) {
  on_bench<LinkFaultBench>([](LinkFaultBench& bench) {
    bench.fabric.link(0).retrain(2, 4);
    bench.wait(20_us);
    const auto express = bench.find_capability(kCard, pci::kCapPciExpress);
    bench.config_write(kCard, express + pci::kExpDeviceControl, pci::kExpDeviceControlFlr, 2);
    bench.wait(2_ms);
    EXPECT_EQ(bench.link_status(kCard), std::make_pair(2U, 4U));
  });
}

TEST(BadTlp, IsSentAgainAndToldByItsReceiver) {
  on_bench<LinkFaultBench>([](LinkFaultBench& bench) {
    const auto usual = bench.read_time();
    bench.fabric.link(0).damage_next(Link::Towards::kDownstream);
    // Nak, and the request once more.
    EXPECT_EQ(bench.read_time(), usual + 2 * kOneWay + wire(8) + wire(24));
    EXPECT_EQ(bench.read_time(), usual);
    EXPECT_TRUE(bench.tells_bad_tlp(kCard));
    EXPECT_TRUE(bench.tells_correctable(kCard));
    EXPECT_FALSE(bench.tells_bad_tlp(kUpperEnd));

    bench.fabric.link(0).damage_next(Link::Towards::kUpstream);
    EXPECT_EQ(bench.read_time(), usual + 2 * kOneWay + wire(8) + wire(28));
    EXPECT_TRUE(bench.tells_bad_tlp(kUpperEnd));
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    bench.config_write(kCard, aer + pci::kAerCorrectableStatus, pci::kAerBadTlp);
    EXPECT_FALSE(bench.tells_bad_tlp(kCard));
  });
}

TEST(BadTlp, IsOvertakenByNothing) {
  LinkFaultBench bench;
  bench.run([&] {
    bench.fabric.link(0).damage_next(Link::Towards::kDownstream);
    for (std::uint64_t i = 0; i < 100; ++i) bench.write(bench.bar(0) + 0x10 + 8 * i, i);
  });
  ASSERT_EQ(bench.chip().register_writes.size(), 100U);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(bench.chip().register_writes[i].value, i);
}

}  // namespace
}  // namespace npu::test
