// SPDX-License-Identifier: Apache-2.0
// Rules that take two values to judge; each test breaks one on an otherwise valid 910B.
#include "tests/unit/config/config_test.hpp"

namespace npu::model {
namespace {

using Checks = ConfigTest;

// The message without the "--set ..." that names the place.
std::string rule(const std::string& message) {
  const auto key = message.find(": ");
  return key == std::string::npos ? message : message.substr(key + 2);
}

TEST_F(Checks, EveryCoreMustHaveItsBitInACoreMask) {
  EXPECT_TRUE(load("910b2", {"ai_cores=85"}));
  EXPECT_EQ(rule(error_of("910b2", {"ai_cores=86"})),
            "ai_cores: 86 clusters of 3 have 258 cores, a core mask has 256 bits; would do: 85 or "
            "less");
  EXPECT_TRUE(load("910b", {"ai_cores=256"}));
  EXPECT_NE(error_of("910b", {"ai_cores=257"}).find("allowed: 1..256"), std::string::npos);
}

TEST_F(Checks, EventRegistersMustEndBeforeTheMsixTable) {
  EXPECT_EQ(rule(error_of("910b", {"events=2049"})),
            "events: event registers 0x2000..0x6007 overlaps MSI-X table 0x6000..0x6fff; would do: "
            "2048 or "
            "less");
  EXPECT_TRUE(load("910b", {"events=2048"}));
}

TEST_F(Checks, TheMsixTableMustEndBeforeItsPendingBits) {
  EXPECT_EQ(rule(error_of("910b", {"pci.msix_vectors=257"})),
            "pci.msix_vectors: MSI-X table 0x6000..0x700f overlaps MSI-X pending bits "
            "0x7000..0x7027; would do: 256 or less");
}

TEST_F(Checks, ABar0TooSmallForItsRegistersIsRefused) {
  EXPECT_EQ(
      rule(error_of("910b", {"pci.bar0_size_kib=16"})),
      "pci.bar0_size_kib: registers, events and MSI-X need 32 KiB, BAR0 has 16; would do: 32 KiB "
      "or more");
}

TEST_F(Checks, StreamWindowsMustLieInReservedMemory) {
  // 56 GiB + 16 MiB + 1024 windows of 32 KiB end 48 MiB above what is usable.
  EXPECT_EQ(
      rule(error_of("910b", {"hbm.installed_mib=57390"})),
      "hbm.installed_mib: stream windows 0xe01000000..0xe02ffffff does not fit into installed "
      "HBM 0x0..0xe02dfffff; would do: 57440 MiB");
}

TEST_F(Checks, PageTablesMustLieInReservedMemory) {
  // They end 96 MiB above what is usable.
  EXPECT_TRUE(load("910b", {"hbm.installed_mib=57440"}));
  const auto text = error_of("910b", {"hbm.installed_mib=57438"});
  EXPECT_NE(text.find("page tables 0xe04100000..0xe05ffffff does not fit"), std::string::npos)
      << text;
}

TEST_F(Checks, TheRingMustLieInReservedMemory) {
  const auto text = error_of("910b", {"hbm.installed_mib=57344"});
  EXPECT_NE(text.find("DMA ring 0xe00000000..0xe0001ffff does not fit"), std::string::npos) << text;
}

TEST_F(Checks, Bar2MustShowAllOfTheMemory) {
  EXPECT_EQ(rule(error_of("910b", {"pci.bar2_size_gib=32"})),
            "pci.bar2_size_gib: BAR2 has 32768 MiB and must show all 65536 MiB of installed HBM; "
            "would do: 64 GiB or more");
}

TEST_F(Checks, UsableMemoryIsWholePagesAndNotMoreThanInstalled) {
  EXPECT_EQ(rule(error_of("910b", {"hbm.usable_mib=57345"})),
            "hbm.usable_mib: is no multiple of the 2 MiB page; would do: 57344 MiB, 57346 MiB");
  EXPECT_EQ(rule(error_of("910b", {"hbm.usable_mib=65538"})),
            "hbm.usable_mib: installed_mib 65536 is less than usable_mib 65538; would do: 65440 "
            "MiB");
}

TEST_F(Checks, AnInterleaveIsFromABurstToARowOfEachOfItsBankGroups) {
  for (const std::string bytes : {"32", "64", "128", "4096"}) {
    EXPECT_TRUE(load("910b", {"hbm.interleave_bytes=" + bytes})) << bytes;
  }
  EXPECT_TRUE(load("910b", {"hbm.interleave_bytes=1024", "hbm.interleave_groups=1"}));

  const std::string what =
      "one burst to a row of each bank group that an interleave takes; would do: ";
  EXPECT_EQ(rule(error_of("910b", {"hbm.interleave_bytes=16"})),
            "hbm.interleave_bytes: 16 is not from 32 to 4096, " + what + "32 bytes");
  EXPECT_EQ(rule(error_of("910b", {"hbm.interleave_bytes=2048", "hbm.interleave_groups=1"})),
            "hbm.interleave_bytes: 2048 is not from 32 to 1024, " + what + "1024 bytes");
}

TEST_F(Checks, AnInterleaveHasNoMoreBankGroupsThanARank) {
  EXPECT_EQ(
      rule(error_of("910b", {"hbm.interleave_groups=8"})),
      "hbm.interleave_groups: 8 is more than the 4 bank groups of a rank; would do: 4 or less");
}

TEST_F(Checks, AChannelHasAtMost128Banks) {
  EXPECT_TRUE(load("910b", {"hbm.timings.stacks=4"}));
  EXPECT_EQ(
      rule(error_of("910b", {"hbm.timings.stacks=8"})),
      "hbm.timings.stacks: 256 banks in a channel, those of each stack id counted in sixteens, "
      "are more than 128; would do: 4 or less");
  EXPECT_FALSE(load("910b", {"hbm.timings.banks_per_group=16"}));
}

TEST_F(Checks, DramTimingsContainTheirParts) {
  EXPECT_EQ(rule(error_of("910b", {"hbm.timings.trc_clocks=56"})),
            "hbm.timings.trc_clocks: trc_clocks 56 is less than tRAS + tRP, which is 57; would do: "
            "57 clocks or more");
  EXPECT_EQ(
      rule(error_of("910b", {"hbm.timings.tccd_l_clocks=1"})),
      "hbm.timings.tccd_l_clocks: tccd_l_clocks 1 is less than tCCD_S, which is 2; would do: 2 "
      "clocks or more");
}

TEST_F(Checks, AllBankRefreshLeavesTimeToOpenARow) {
  // tRFC 420, tRCD 17
  EXPECT_TRUE(load("910b", {"hbm.timings.trefi_clocks=438"}));
  EXPECT_EQ(rule(error_of("910b", {"hbm.timings.trefi_clocks=437"})),
            "hbm.timings.trefi_clocks: refresh and opening a row take tRFC + tRCD = 437 of every "
            "437; would do: 438 clocks or more");
}

TEST_F(Checks, PerBankRefreshLeavesEachBankTimeToOpenARow) {
  // 32 banks of a pseudo channel, each refreshed every 32 x 146 = 4672 clocks.
  EXPECT_TRUE(load("910b", {"hbm.timings.trfc_pb_clocks=4654"}));
  EXPECT_EQ(rule(error_of("910b", {"hbm.timings.trfc_pb_clocks=4655"})),
            "hbm.timings.trfc_pb_clocks: refresh of a bank and opening a row take tRFCpb + tRCD = "
            "4672 of every 4672, which is 146 for each of 32 banks; would do: 4654 clocks");
}

TEST_F(Checks, RefreshThatNeverLetsABankServeIsShownInItsFile) {
  const std::string table = "hbm/hbm2e_2400.yaml";
  const auto file =
      write("table.yaml", with_line(table, "trfc_pb_clocks:", "trfc_pb_clocks: 4700"));
  const auto place = file + ":" + std::to_string(line_of(table, "trefi_pb_clocks:")) + ":18: ";
  EXPECT_EQ(error_of(chip_with("timings:", "  timings: table.yaml")).rfind(place, 0), 0U)
      << error_of(path("chip.yaml"));
}

TEST_F(Checks, AllCoresReadOneCounter) {
  EXPECT_EQ(rule(error_of("910b", {"core.counter_mhz=100"})),
            "core.counter_mhz: aicpu_core.counter_mhz 50 is not core.counter_mhz 100; would do: 50 "
            "MHz");
  EXPECT_TRUE(load("910b", {"core.counter_mhz=100", "aicpu_core.counter_mhz=100"}));
}

TEST_F(Checks, ALoadOfAnotherLineTakesNoLessThanOneOfTheSame) {
  EXPECT_TRUE(load("910b", {"aicpu_core.l1_other_line_ns=3"}));
  EXPECT_EQ(rule(error_of("910b", {"aicpu_core.l1_other_line_ns=2.999"})),
            "aicpu_core.l1_other_line_ns: l1_other_line_ns, 2999 ps, is less than l1_hit_ns, 3000 "
            "ps; would do: 3 ns or more");
}

TEST_F(Checks, APipeMayHaveAtLeastOneRequestInFlight) {
  EXPECT_EQ(rule(error_of("910b", {"core.outstanding_kib=3"})),
            "core.outstanding_kib: 3072 bytes never admit a request of core.segment_bytes 4096; "
            "would do: 4 KiB or more");
  EXPECT_TRUE(load("910b", {"core.outstanding_kib=4"}));
}

TEST_F(Checks, ABufferTakesAtLeastOneRead) {
  EXPECT_EQ(
      rule(error_of("910b", {"dma.buffer_kib=2"})),
      "dma.buffer_kib: 2048 bytes cannot take a read of max_read_request_bytes 4096; would do: "
      "4 KiB or more");
}

TEST_F(Checks, CreditsAdmitAtLeastOneFullTlp) {
  EXPECT_EQ(rule(error_of("910b", {"link.data_credits_bytes=128"})),
            "link.data_credits_bytes: 128 bytes of credit never admit a TLP of max_payload_bytes "
            "256; would do: 256 bytes or more");
}

TEST_F(Checks, HccsLimitsAdmitAtLeastOneRequest) {
  EXPECT_EQ(rule(error_of("910b", {"hccs.max_outstanding_writes_kib=2"})),
            "hccs.max_outstanding_writes_kib: 2048 bytes never admit a request of "
            "device_chunk_bytes 4096; would do: 4 KiB or more");
  EXPECT_FALSE(load("910b", {"hccs.receive_buffer_kib=3"}));
  EXPECT_TRUE(load("910b", {"hccs.receive_buffer_kib=4"}));
}

TEST_F(Checks, VirtualFunctionsNeedFunctionNumbers) {
  EXPECT_EQ(rule(error_of("910b", {"pci.sriov_vf_stride=0"})),
            "pci.sriov_vf_stride: must not be 0 with virtual functions; would do: 1");
  EXPECT_EQ(
      rule(error_of("910b", {"pci.sriov_total_vfs=255"})),
      "pci.sriov_total_vfs: the last VF would be function 270 of a bus that has 0..255; would do: "
      "240 or less");
  EXPECT_TRUE(load("910b", {"pci.sriov_vf_stride=0", "pci.sriov_total_vfs=0"}));
}

TEST_F(Checks, AHostBridgeSitsOnANumaNodeThatExists) {
  EXPECT_NE(error_of("system-8x910b", {"memory.numa_nodes=1"})
                .find("memory.numa_nodes: there is no node 1: memory.numa_nodes is 1; would do: 2"),
            std::string::npos);
}

TEST_F(Checks, BusRangesOfHostBridgesDoNotOverlap) {
  EXPECT_NE(error_of("system-8x910b", {"host_bridges.1.first_bus=0x09"})
                .find("host_bridges.0.first_bus: its 10 buses from 0x0 on reach beyond bus 0x8"),
            std::string::npos);
  EXPECT_TRUE(load("system-8x910b", {"host_bridges.1.first_bus=0x0a"}));
}

TEST_F(Checks, ACardSendsNoLongerPayloadThanTheSwitchAboveTakes) {
  EXPECT_EQ(rule(error_of("system-8x910b", {"cards.5.link.max_payload_bytes=512"})),
            "link.max_payload_bytes: 512 is more than the 256 of the switch above; would do: 256 "
            "bytes or less");
}

// A chip of one's own: a few keys on top of a shipped file.
TEST_F(Checks, ARuleIsToldAtTheLineThatItsUserWrote) {
  const auto file = write(
      "own.yaml", "schema: npusim.chip/1\nbase: 910b2.yaml\nname: own\nl2:\n  size_mib: 256\n");
  EXPECT_EQ(error_of(file),
            file +
                ":5:13: l2.size_mib: size_mib 256 in lines of 512 bytes, 12 ways and 32 slices is "
                "not a power of two of sets; would do: 192 MiB, 384 MiB");
}

TEST_F(Checks, WhatIsSetIsToldBeforeWhatIsInAFile) {
  const auto file = write(
      "own.yaml", "schema: npusim.chip/1\nbase: 910b2.yaml\nname: own\nl2:\n  size_mib: 192\n");
  const auto text = error_of(file, {"l2.ways=7"});
  EXPECT_EQ(text.rfind("--set l2.ways=7: l2.ways: ", 0), 0U) << text;
  EXPECT_NE(text.find("; would do: "), std::string::npos) << text;
}

// Whatever key breaks a rule, the one that was set is named, and what would do does.
TEST_F(Checks, ValuesThatWouldDoDo) {
  for (const std::string wrong :
       {"l2.size_mib=256", "hbm.usable_mib=65538", "hbm.installed_mib=57390",
        "dma.device_chunk_bytes=65536", "hbm.timings.tras_clocks=200",
        "hbm.timings.trcd_rd_clocks=200", "aicpu_core.l1_hit_ns=900", "pci.sriov_vf_stride=200",
        "events=2049", "hbm.write_high_percent=1", "ai_cores=86", "l2.ways=7",
        "hbm.timings.bank_groups=16", "dma.buffer_kib=1", "hbm.timings.trfc_pb_clocks=0"}) {
    const std::string key = wrong.substr(0, wrong.find('='));
    const auto text = error_of("910b2", {wrong});
    EXPECT_EQ(text.rfind("--set " + wrong + ": " + key + ": ", 0), 0U) << text;
    const auto begin = text.find("would do: ");
    ASSERT_NE(begin, std::string::npos) << text;
    const auto value = text.substr(begin + 10, text.find_first_of(" ,", begin + 10) - begin - 10);
    EXPECT_TRUE(load("910b2", {key + "=" + value})) << text;
  }
}

TEST_F(Checks, NamesAreUnique) {
  EXPECT_EQ(rule(error_of("system-8x910b", {"host_bridges.1.name=pci0"})),
            "host_bridges.1.name: 'pci0' is taken by another node");
}

}  // namespace
}  // namespace npu::model
