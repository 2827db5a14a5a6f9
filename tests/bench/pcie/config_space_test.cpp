// SPDX-License-Identifier: Apache-2.0
// Configuration space: access rules, BAR sizing, what firmware leaves behind.
#include "tests/bench/pcie/pcie_bench.hpp"

namespace npu::test {
namespace {

TEST(ConfigSpace, OnlyWritableBitsChange) {
  model::ConfigSpace space;
  space.set(0x40, 4, 0x1234'5678);
  space.writable(0x40, 4, 0x0000'FF00);
  space.write(0x40, 4, 0xFFFF'FFFF);
  EXPECT_EQ(space.read(0x40, 4), 0x1234'FF78U);
}

TEST(ConfigSpace, StatusBitsClearWhenWrittenAsOne) {
  model::ConfigSpace space;
  space.set(0x44, 2, 0x00FF);
  space.write_one_to_clear(0x44, 2, 0x000F);
  space.write(0x44, 1, 0xF5);
  EXPECT_EQ(space.read(0x44, 2), 0x00FAU);
}

TEST(ConfigSpace, NarrowWritesLeaveTheirNeighboursAlone) {
  model::ConfigSpace space;
  space.writable(0x40, 4, 0xFFFF'FFFF);
  space.write(0x41, 1, 0xAB);
  EXPECT_EQ(space.read(0x40, 4), 0x0000'AB00U);
}

using BarSizing = OnBench<PcieBench>;

TEST_F(BarSizing, WriteOnesShowsSizeAndFlagsOfBothBars) {
  bench.run([&] {
    for (std::uint32_t offset = pci::kBar0; offset < pci::kBar0 + 16; offset += 4) {
      bench.config_write(kCard, offset, pci::kAllOnes);
    }
    EXPECT_EQ(bench.config_read(kCard, 0x10), 0xFFFF'8004U);  // 32 KiB, 64-bit
    EXPECT_EQ(bench.config_read(kCard, 0x14), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.config_read(kCard, 0x18), 0x0000'000CU);  // 64 GiB, 64-bit, prefetchable
    EXPECT_EQ(bench.config_read(kCard, 0x1C), 0xFFFF'FFF0U);
    EXPECT_EQ(bench.config_read(kCard, 0x20), 0U);
    EXPECT_EQ(bench.config_read(kCard, 0x24), 0U);
  });
}

TEST_F(BarSizing, WithMemoryDecodingOnNothingIsCorrupted) {
  bench.run([&] {
    const std::uint32_t base = bench.config_read(kCard, 0x10);
    bench.config_write(kCard, 0x10, pci::kAllOnes);
    bench.write(bench.bar(0) + 0x20, 1);
    EXPECT_EQ(bench.read(bench.bar(0)), 0xFFFF'FFFFU);
    bench.config_write(kCard, 0x10, base);
    bench.write(bench.bar(0) + 0x20, 2);
    EXPECT_EQ(bench.read(bench.bar(0) + 0x20), 2U);
  });
  EXPECT_EQ(bench.chip().register_writes.size(), 1U);
}

TEST_F(BarSizing, DecodingFollowsTheBarWhereverItMoves) {
  bench.chip().values[8] = 77;
  bench.run([&] {
    const auto moved = static_cast<std::uint32_t>(bench.bar(0) + 64_KiB);
    bench.config_write(kCard, 0x10, moved);
    EXPECT_EQ(bench.read(moved + 8), 77U);
  });
}

TEST(MemoryDecoding, OffMakesTheBarsUnsupportedRequests) {
  PcieBench bench;
  bench.run([&] {
    bench.config_write(kCard, pci::kCommand, 0, 2);
    EXPECT_EQ(bench.read(bench.bar(0)), 0xFFFF'FFFFU);
    EXPECT_EQ(bench.completion, model::Completion::kUnsupportedRequest);
    bench.write(bench.bar(2), 1);
  });
  EXPECT_TRUE(bench.chip().memory_writes.empty());
}

TEST(Firmware, PlacesBarsWhereTheirBridgesCanReachThem) {
  PcieBench bench(two_bridges());
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (const Bdf bdf : {Bdf{3, 0, 0}, Bdf{5, 0, 0}, Bdf{0x81, 0, 0}}) {
    const auto registers = bench.fabric.resource(bdf, 0);
    const auto memory = bench.fabric.resource(bdf, 2);
    EXPECT_EQ(registers.size, 32_KiB);
    EXPECT_EQ(memory.size, 64_GiB);
    EXPECT_GT(registers.address, low);
    EXPECT_LT(registers.address, 1ULL << 32);
    EXPECT_GT(memory.address, high);
    EXPECT_GE(memory.address, 0x40'0000'0000U);
    EXPECT_TRUE(is_aligned(memory.address, 64_GiB));
    low = registers.address + registers.size - 1;
    high = memory.address + memory.size - 1;
  }
}

TEST(Firmware, LeavesDecodingOnAndBusMasteringOff) {
  PcieBench bench;
  EXPECT_EQ(bench.fabric.peek_config(kCard, pci::kCommand) & 0xFFFF, pci::kCommandMemory);
  EXPECT_EQ(bench.fabric.peek_config({0, 0, 0}, pci::kCommand) & 0xFFFF,
            pci::kCommandMemory | pci::kCommandBusMaster);
}

TEST(Firmware, KnowsTheNumaNodeOfEveryBus) {
  PcieBench bench(two_bridges());
  EXPECT_EQ(bench.fabric.numa_node(Bdf{5, 0, 0}.packed()), 0);
  EXPECT_EQ(bench.fabric.numa_node(Bdf{0x81, 0, 0}.packed()), 1);
}

TEST(Sriov, NumberOfVfsAndEnableCanBeWrittenAndAddressesAreSized) {
  on_bench<PcieBench>([](PcieBench& bench) {
    const auto sriov = bench.find_extended(kCard, pci::kExtSriov);
    bench.config_write(kCard, sriov + 0x10, 4, 2);
    bench.config_write(kCard, sriov + 0x08, 9, 2);
    EXPECT_EQ(bench.config_read(kCard, sriov + 0x10, 2), 4U);
    EXPECT_EQ(bench.config_read(kCard, sriov + 0x08, 2), 9U);
    bench.config_write(kCard, sriov + 0x24, pci::kAllOnes);
    EXPECT_EQ(bench.config_read(kCard, sriov + 0x24), 0xFFFF'0004U);
  });
}

}  // namespace
}  // namespace npu::test
