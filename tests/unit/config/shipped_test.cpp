// SPDX-License-Identifier: Apache-2.0
// The configurations that come with npusim, against the figures of requirements.md M1 and
// hardware.md H2 to H40.
#include "model/config/link_rate.hpp"
#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Shipped = ConfigTest;

TEST_F(Shipped, EveryChipAndSystemFileLoads) {
  for (const auto* name : {"910", "910b", "950", "910a", "910b1", "910b2", "910b3", "910b4", "910c",
                           "950pr", "950dt", "system-2x910b2", "system-2x910c", "system-8x910b"}) {
    const auto system = load(name);
    EXPECT_TRUE(system) << name << ": " << system.error().message();
  }
}

TEST_F(Shipped, The910bIsTheCardOfTheSourceDocuments) {
  const auto system = must(load("910b.yaml"));
  ASSERT_EQ(system.cards.size(), 1U);
  const ChipConfig& chip = system.cards[0];
  EXPECT_EQ(chip.pci.device_id, 0xD110);
  EXPECT_EQ(chip.ai_cores, 64U);
  EXPECT_EQ(chip.pci.bar0_size, 32_KiB);
  EXPECT_EQ(chip.pci.bar2_size, 64_GiB);
  EXPECT_EQ(chip.hbm.usable, 56_GiB);
  EXPECT_NEAR(static_cast<double>(hbm_bytes_per_second(chip.hbm)), 1.2e12, 0.03e12);
  EXPECT_EQ(chip.link.generation, 4U);
  EXPECT_EQ(chip.link.lanes, 16U);
}

TEST_F(Shipped, IdsAndCoreCountsFollowTheMission) {
  struct Expected {
    const char* name;
    unsigned device;
    unsigned cores;
  };
  for (const auto& expected : {Expected{"910", 0xD100, 32},
                               {"910b", 0xD110, 64},
                               {"950", 0xD200, 64},
                               {"910b2", 0xD802, 24}}) {
    const auto system = must(load(expected.name));
    EXPECT_EQ(system.cards[0].pci.device_id, expected.device) << expected.name;
    EXPECT_EQ(system.cards[0].ai_cores, expected.cores) << expected.name;
  }
}

// hardware.md H2 to H9, the SKUs and their ids.
TEST_F(Shipped, SkusFollowTheHardwareTable) {
  struct Sku {
    const char* name;
    unsigned device, cores, mhz, aicpus;
    Bytes hbm, l2;
  };
  for (const auto& sku : {Sku{"910a", 0xD801, 32, 1000, 4, 32_GiB, 32_MiB},
                          Sku{"910b1", 0xD802, 24, 1850, 6, 64_GiB, 192_MiB},
                          Sku{"910b2", 0xD802, 24, 1800, 6, 64_GiB, 192_MiB},
                          Sku{"910b3", 0xD802, 20, 1800, 6, 64_GiB, 192_MiB},
                          Sku{"910b4", 0xD802, 20, 1500, 6, 32_GiB, 96_MiB},
                          Sku{"910c", 0xD803, 24, 1850, 6, 64_GiB, 192_MiB},
                          Sku{"950pr", 0xD806, 32, 1650, 8, 128_GiB, 128_MiB},
                          Sku{"950dt", 0xD806, 32, 1650, 8, 96_GiB, 128_MiB}}) {
    const auto system = must(load(sku.name));
    const ChipConfig& chip = system.cards[0];
    EXPECT_EQ(chip.name, sku.name);
    EXPECT_EQ(chip.pci.device_id, sku.device) << sku.name;
    EXPECT_EQ(chip.ai_cores, sku.cores) << sku.name;
    EXPECT_EQ(chip.aicore.clock_hz, sku.mhz * 1'000'000ULL) << sku.name;
    EXPECT_EQ(chip.aicpus, sku.aicpus) << sku.name;
    EXPECT_EQ(chip.hbm.installed, sku.hbm) << sku.name;
    EXPECT_EQ(chip.l2.size, sku.l2) << sku.name;
    const bool coupled = sku.device == 0xD801;
    EXPECT_EQ(chip.core.type, coupled ? ProgramCoreKind::kCoupled : ProgramCoreKind::kSplit)
        << sku.name;
    EXPECT_EQ(chip.core.l1, coupled ? 1_MiB : 512_KiB) << sku.name;
    EXPECT_EQ(chip.core.l0c, sku.device == 0xD802 || sku.device == 0xD803 ? 128_KiB : 256_KiB);
  }
}

// hardware.md H35, H36: A2 HBM 1.6..1.8 TB/s, L2 about 7..7.9; 950PR 1.6 and 5.2.
TEST_F(Shipped, MemoriesOfSkusHaveTheirBandwidth) {
  for (const auto* name : {"910b1", "910b2", "910b3", "910c", "950pr"}) {
    const ChipConfig chip = load(name)->cards[0];
    const auto hbm = static_cast<double>(hbm_bytes_per_second(chip.hbm));
    EXPECT_NEAR(hbm, 1.7e12, 0.1e12) << name;
    const auto l2 = static_cast<double>(chip.l2.slices * chip.l2.slice_per_clock) *
                    static_cast<double>(chip.l2.clock_hz);
    const bool is_950 = std::string(name) == "950pr";
    EXPECT_NEAR(l2, is_950 ? 5.2e12 : 7.45e12, is_950 ? 0.1e12 : 0.45e12) << name;
  }
}

// 950DT_958x.ini: 61 bytes of memory per clock and core, 32 cores at 1650 MHz.
TEST_F(Shipped, The950dtHasTwiceTheMemoryRateOfThe950pr) {
  const ChipConfig chip = load("950dt")->cards[0];
  EXPECT_NEAR(static_cast<double>(hbm_bytes_per_second(chip.hbm)), 3.22e12, 0.06e12);
}

// Wire bytes of a posted write: payload, 4 DW header (addresses above 4 GiB) or 3 DW, framing,
// DLLPs; 16 GT/s x 16 lanes x 128/130.
double wire_ns(const LinkConfig& link, double payload, double header) {
  const double bytes = payload + header + static_cast<double>(link.tlp_framing + link.dllp_per_tlp);
  return bytes / (16.0 * 16.0 / 8.0 * 128.0 / 130.0);
}

TEST_F(Shipped, The910bGivesTheReferenceCostOfAnEntryStore) {
  const auto system = must(load("910b"));
  const ChipConfig& chip = system.cards[0];
  const double ns = 4 * system.cpu.wc_store.ns() + system.cpu.barrier.ns() +
                    system.root_complex.latency.ns() + wire_ns(chip.link, 32, 16) +
                    chip.link.propagation.ns() + chip.endpoint.ingress.ns();
  EXPECT_NEAR(ns, 150.0, 0.75);
}

TEST_F(Shipped, The910bGivesTheReferenceCostOfADoorbell) {
  const auto system = must(load("910b"));
  const LinkConfig& link = system.cards[0].link;
  const double ns = system.cpu.mmio_store.ns() + wire_ns(link, 4, 12) - wire_ns(link, 32, 16);
  EXPECT_NEAR(ns, 30.0, 0.15);
}

// hardware.md H38: A2, full mesh, 28 GB/s each way per pair.
TEST_F(Shipped, A2CardsAreLinkedAt28GbPerS) {
  for (const auto* name : {"system-2x910b2", "system-8x910b"}) {
    const auto system = must(load(name));
    ASSERT_EQ(system.fabric.parts.size(), 1U);
    EXPECT_EQ(system.fabric.parts[0].form, FabricForm::kFullMesh);
    for (const auto& chip : system.cards) EXPECT_EQ(chip.hccs.rate, 28'000'000'000U);
  }
  EXPECT_TRUE(load("910b")->fabric.parts.empty());
}

TEST_F(Shipped, AFullPayloadLeavesMoreThan85PercentOfTheLinkForData) {
  for (const auto* name : {"910", "910b", "950", "910b2"}) {
    const auto system = must(load(name));
    const LinkConfig& link = system.cards[0].link;
    const Bytes wire = link.max_payload + 16 + link.tlp_framing + link.dllp_per_tlp;
    EXPECT_GT(link.max_payload * 100, wire * 85) << name;
  }
}

TEST_F(Shipped, TheBigSystemHasEightCardsOnTwoNumaNodesAndEmptySlots) {
  const auto system = must(load("system-8x910b"));
  EXPECT_EQ(system.cards.size(), 8U);
  ASSERT_EQ(system.host_bridges.size(), 2U);
  EXPECT_EQ(system.host_bridges[0].numa_node, 0);
  EXPECT_EQ(system.host_bridges[1].numa_node, 1);
  const auto& below = system.host_bridges[1].root_ports[0].children[0];
  EXPECT_EQ(below.kind, PciNodeKind::kSwitch);
  EXPECT_EQ(below.children[2].kind, PciNodeKind::kEmptySlot);
  EXPECT_EQ(below.children[0].card, 4);
  EXPECT_TRUE(system.host_bridges[1].root_ports[1].children.empty());
}

}  // namespace
}  // namespace npu::model
