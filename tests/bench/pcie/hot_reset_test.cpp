// SPDX-License-Identifier: Apache-2.0
// Resets that come with the link: down and up again, and Secondary Bus Reset of the port above
// (PCIe Base 4.0, 2.9.1, 6.6.1, 7.5.1.3.13).
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

constexpr Bdf kRootPort{0, 0, 0};

struct HotResetBench : PcieBench {
  using PcieBench::PcieBench;
  void hold(bool held, Bdf port = kRootPort) {
    config_write(port, pci::kBridgeControl, held ? pci::kBridgeControlBusReset : 0, 2);
  }
  // Secondary Bus Reset, and the time until what is below is ready again.
  void bus_reset(Bdf port = kRootPort) {
    hold(true, port);
    wait(1100_us);
    hold(false, port);
  }
  // Down and up again with nothing between.
  void blink() {
    fabric.link(0).set_down(true);
    fabric.link(0).set_down(false);
  }
};

TEST(SecondaryBusReset, ReturnsTheConfigurationToItsDefaults) {
  HotResetBench bench;
  bench.run([&] {
    const auto msix = bench.find_capability(kCard, pci::kCapMsix);
    const auto sriov = bench.find_extended(kCard, pci::kExtSriov);
    bench.enable_bus_master();
    bench.config_write(kCard, msix + pci::kMsixControl, pci::kMsixControlEnable, 2);
    bench.config_write(kCard, sriov + pci::kSriovNumVfs, 4, 2);
    bench.bus_reset();
    EXPECT_EQ(bench.config_read(kCard, pci::kCommand, 2), 0U);
    EXPECT_EQ(bench.config_read(kCard, pci::kBar0), 0x4U);
    EXPECT_EQ(bench.config_read(kCard, pci::kBar0 + 8), 0xCU);
    EXPECT_EQ(bench.config_read(kCard, pci::kBar0 + 12), 0U);
    EXPECT_EQ(bench.config_read(kCard, msix + pci::kMsixControl, 2), 127U);
    EXPECT_EQ(bench.config_read(kCard, sriov + pci::kSriovNumVfs, 2), 0U);
    EXPECT_EQ(bench.config_read(kCard, sriov + pci::kSriovBar0), 0x4U);
  });
  EXPECT_EQ(bench.chip().resets.size(), 1U);
}

TEST(SecondaryBusReset, MasksEveryVector) {
  on_bench<HotResetBench>([](HotResetBench& bench) {
    const auto address = static_cast<std::uint32_t>(bench.bar(0));
    const auto control = address + abi::kMsixTableOffset + pci::kMsixEntryControl;
    bench.write(control, 0);
    EXPECT_EQ(bench.read(control), 0U);
    bench.bus_reset();
    bench.config_write(kCard, pci::kBar0, address);
    bench.config_write(kCard, pci::kCommand, pci::kCommandMemory, 2);
    EXPECT_EQ(bench.read(control), pci::kMsixEntryMasked);
  });
}

TEST(SecondaryBusReset, NothingAnswersWhileItIsSetNorBeforeTheResetIsOver) {
  on_bench<HotResetBench>([](HotResetBench& bench) {
    bench.hold(true);
    bench.wait(100_us);
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    bench.hold(false);
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    bench.wait(1_ms);  // flr_time, counted from the beginning
    EXPECT_EQ(bench.config_read(kCard, 0) & 0xFFFF, 0x19E5U);
    bench.hold(true);
    bench.wait(5_ms);
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
  });
}

TEST(SecondaryBusReset, LeavesTheErrorLogAlone) {
  on_bench<HotResetBench>([](HotResetBench& bench) {
    const auto aer = bench.find_extended(kCard, pci::kExtAer);
    bench.read(bench.bar(0) + FakeChip::kBadRegister);
    bench.bus_reset();
    EXPECT_EQ(bench.config_read(kCard, aer + 4), pci::kAerUnsupportedRequest);
  });
}

TEST(SecondaryBusReset, LeavesThePortItselfConfigured) {
  on_bench<HotResetBench>([](HotResetBench& bench) {
    const auto before = bench.config_read(kRootPort, pci::kPrimaryBus);
    bench.bus_reset();
    EXPECT_EQ(bench.config_read(kRootPort, pci::kPrimaryBus), before);
    EXPECT_EQ(bench.config_read(kRootPort, pci::kCommand, 2),
              pci::kCommandMemory | pci::kCommandBusMaster);
  });
}

TEST(SecondaryBusReset, OfAnEmptySlotDoesNothing) {
  HotResetBench bench;
  bench.run([&] { bench.bus_reset({0, 1, 0}); });
  EXPECT_TRUE(bench.chip().resets.empty());
}

// two_bridges(): switch 01:00.0 with ports 02:00.0 .. 02:02.0, cards 03:00.0, 05:00.0, 81:00.0.
constexpr Bdf kUpstream{1, 0, 0}, kDownstream{2, 2, 0};

TEST(SecondaryBusReset, AboveASwitchResetsItsPortsAndAllCardsBelow) {
  HotResetBench bench(two_bridges());
  bench.run([&] {
    const auto numbers = bench.config_read(kUpstream, pci::kPrimaryBus) & 0xFFFFFF;
    bench.bus_reset();
    EXPECT_EQ(bench.config_read(kUpstream, pci::kPrimaryBus) & 0xFFFFFF, 0U);
    bench.config_write(kUpstream, pci::kPrimaryBus, numbers);
    EXPECT_EQ(bench.config_read(kDownstream, pci::kPrimaryBus) & 0xFFFFFF, 0U);
    EXPECT_EQ(bench.config_read(kDownstream, pci::kCommand, 2), 0U);
  });
  EXPECT_EQ(bench.chips[0]->resets.size(), 1U);
  EXPECT_EQ(bench.chips[1]->resets.size(), 1U);
  EXPECT_TRUE(bench.chips[2]->resets.empty());
}

TEST(SecondaryBusReset, OfASwitchPortResetsWhatIsBelowThatPort) {
  HotResetBench bench(two_bridges());
  bench.run([&] {
    bench.bus_reset(kDownstream);
    EXPECT_EQ(bench.config_read({5, 0, 0}, pci::kCommand, 2), 0U);
    EXPECT_EQ(bench.config_read({3, 0, 0}, pci::kCommand, 2), pci::kCommandMemory);
  });
  EXPECT_TRUE(bench.chips[0]->resets.empty());
  EXPECT_EQ(bench.chips[1]->resets.size(), 1U);
}

TEST(SecondaryBusReset, OfTheUpstreamPortResetsTheBusInsideTheSwitch) {
  HotResetBench bench(two_bridges());
  bench.run([&] {
    bench.bus_reset(kUpstream);
    EXPECT_EQ(bench.config_read(kUpstream, pci::kSecondaryBus, 1), 2U);
    EXPECT_EQ(bench.config_read(kDownstream, pci::kSecondaryBus, 1), 0U);
  });
  EXPECT_EQ(bench.chips[0]->resets.size(), 1U);
  EXPECT_EQ(bench.chips[1]->resets.size(), 1U);
}

TEST(LinkLoss, ACardThatComesBackIsConfiguredAsAtBootAndNoFurther) {
  HotResetBench bench;
  bench.chip().values[8] = 77;
  bench.run([&] {
    bench.enable_bus_master();
    bench.config_write(kCard, pci::kBar0, static_cast<std::uint32_t>(bench.bar(0) + 64_KiB));
    bench.blink();
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    bench.wait(1_ms);
    EXPECT_EQ(bench.config_read(kCard, pci::kCommand, 2), pci::kCommandMemory);
    EXPECT_EQ(bench.read(bench.bar(0) + 8), 77U);
  });
  EXPECT_EQ(bench.chip().resets.size(), 1U);
}

TEST(LinkLoss, ACardThatGoesAgainBeforeItIsReadyIsConfiguredWhenItStays) {
  HotResetBench bench;
  bench.run([&] {
    bench.blink();
    bench.wait(600_us);
    bench.blink();
    bench.wait(600_us);
    EXPECT_EQ(bench.config_read(kCard, 0), pci::kAllOnes);
    bench.wait(600_us);
    EXPECT_EQ(bench.config_read(kCard, pci::kCommand, 2), pci::kCommandMemory);
  });
  EXPECT_EQ(bench.chip().resets.size(), 2U);
}

// The CPU's read does not see `chip().values[0]`, wherever the link meets it.
void expect_read_is_lost(Picoseconds after) {
  HotResetBench bench;
  bench.chip().values[0] = 5;
  std::uint64_t value = 0;
  sc_core::sc_spawn([&] {
    bench.wait(after);
    bench.blink();
  });
  bench.run([&] { value = bench.read(bench.bar(0)); });
  EXPECT_EQ(value, 0xFFFF'FFFFU);
  EXPECT_NE(bench.completion, Completion::kSuccess);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST(LinkLoss, LosesARequestOnTheWire) {
  expect_read_is_lost(80_ns);  // root complex 60 ns, propagation 50 ns
}
TEST(LinkLoss, LosesARequestInsideTheCard) {
  expect_read_is_lost(140_ns);  // ingress 20 ns and register access 40 ns
}
TEST(LinkLoss, LosesACompletionOnTheWire) {
  expect_read_is_lost(200_ns);
}

TEST(LinkLoss, LosesAReadOfDeviceMemoryInFlight) {
  HotResetBench bench;
  std::uint64_t value = 0;
  sc_core::sc_spawn([&] {
    bench.wait(200_ns);  // with the memory from 131 ns to 331 ns
    bench.blink();
  });
  bench.run([&] { value = bench.read(bench.bar(2), 8); });
  EXPECT_EQ(value, ~0ULL);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST(LinkLoss, LosesPostedWritesOnTheWireInBothDirections) {
  HotResetBench bench;
  bench.run([&] {
    bench.enable_bus_master();
    bench.wait(1_us);
    bench.write(bench.bar(0), 1);
    bench.wait(70_ns);
    bench.chip().write(kBuffer, {1});
    bench.wait(30_ns);                      // egress is 15 ns
    bench.chip().write(kBuffer + 64, {1});  // still in the card
    bench.blink();
    bench.wait(2_us);
  });
  EXPECT_TRUE(bench.chip().register_writes.empty());
  EXPECT_TRUE(bench.memory.writes.empty());
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST(LinkLoss, EndsTheCardsReadsAndNothingLeavesItDuringTheReset) {
  HotResetBench bench;
  bench.run([&] {
    bench.enable_bus_master();
    bench.chip().read(kBuffer, 64);
    bench.wait(100_ns);
    bench.chip().read(kBuffer, 64);
    bench.blink();
    ASSERT_EQ(bench.chip().answers.size(), 2U);
    bench.chip().read(kBuffer, 64);
    bench.endpoint().raise(0, 0, 0);
    bench.wait(10_us);
    ASSERT_EQ(bench.chip().answers.size(), 3U);
    for (const auto& answer : bench.chip().answers) {
      EXPECT_EQ(answer.completion, Completion::kCompleterAbort);
    }
  });
  EXPECT_EQ(bench.endpoint().outstanding_reads(), 0U);
  EXPECT_EQ(bench.simulation.pool.in_use(), 0U);
}

TEST(LinkLoss, ThePortAboveShowsIt) {
  on_bench<HotResetBench>([](HotResetBench& bench) {
    const auto express = bench.find_capability(kRootPort, pci::kCapPciExpress);
    const auto link = [&] {
      return bench.config_read(kRootPort, express + pci::kExpLinkStatus, 2) &
             pci::kExpLinkStatusActive;
    };
    const auto changed = [&] {
      return bench.config_read(kRootPort, express + pci::kExpSlotStatus, 2) &
             pci::kExpSlotStatusLinkChanged;
    };
    EXPECT_TRUE(link());
    EXPECT_FALSE(changed());
    bench.fabric.link(0).set_down(true);
    EXPECT_FALSE(link());
    EXPECT_TRUE(changed());
    bench.config_write(kRootPort, express + pci::kExpSlotStatus, 0x0100, 2);
    EXPECT_FALSE(changed());
    bench.fabric.link(0).set_down(false);
    EXPECT_TRUE(link());
    EXPECT_TRUE(changed());
  });
}

}  // namespace
}  // namespace npu::test
