// SPDX-License-Identifier: Apache-2.0
// BARs, configuration space and reset of an open function.
#include "npu/abi/pci.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;
using platform::Caching;

constexpr unsigned kConfig = VFIO_PCI_CONFIG_REGION_INDEX;

class VfioFunction : public testing::Test {
 protected:
  Result<std::unique_ptr<platform::MmioRegion>> map(unsigned bar, Bytes offset, Bytes size) {
    return vfio.map_bar(kCard, bar, offset, size, Caching::kUncached);
  }

  FakeKernel kernel;
  FakeVfioFunction& card = kernel.add(kCard, "7");
  VfioPlatform vfio{kernel.options(), kernel};
};

// Each word of the region from both sides.
void expect_reaches(const FakeVfioFunction& card, platform::MmioRegion& region, unsigned bar,
                    Bytes offset) {
  for (Bytes at = 0; at < region.size(); at += 2048) {
    region.write64(at, 0x1111'0000'0000'0000 + at);
    region.write32(at + 8, static_cast<std::uint32_t>(0xABCD'0000 + at));
    EXPECT_EQ(card.load(bar, offset + at), 0x1111'0000'0000'0000 + at);
    EXPECT_EQ(card.load(bar, offset + at + 8), 0xABCD'0000 + at);
    card.store(bar, offset + at, ~at, 8);
    EXPECT_EQ(region.read64(at), ~at);
    EXPECT_EQ(region.read32(at + 4), 0xFFFFFFFFU);
  }
}

TEST_F(VfioFunction, BarsAreReachedThroughMappings) {
  const auto region = must(map(2, 0x2000, 0x4000));
  expect_reaches(card, *region, 2, 0x2000);
}

TEST_F(VfioFunction, ABarWithoutMmapIsReachedThroughTheDescriptor) {
  card.without_mmap = {0};
  const auto region = must(map(0, 0x1000, 0x2000));
  expect_reaches(card, *region, 0, 0x1000);
}

TEST_F(VfioFunction, WhatTheKernelDoesNotMapAfterAllIsReachedThroughTheDescriptor) {
  kernel.maps = false;
  const auto region = must(map(0, 0, 0x2000));
  expect_reaches(card, *region, 0, 0);
}

TEST_F(VfioFunction, ThePageOfTheMsixTableMayBeLeftOut) {
  card.sparse[0] = {{0x7000, 0x1000}, {0, 0x6000}};
  const auto region = map(0, 0x5000, 0x3000);  // mapped, not mapped, mapped
  ASSERT_THAT(region, IsOk());
  expect_reaches(card, **region, 0, 0x5000);
}

TEST_F(VfioFunction, SenselessMappableAreasAreLeftOut) {
  card.sparse[0] = {{0, 0}, {0x10, 0x1000}, {0x7000, 0x2000}, {~0ULL - 4095, 0x2000}};
  const auto region = must(map(0, 0, 0x8000));
  expect_reaches(card, *region, 0, 0);
}

TEST_F(VfioFunction, AnAccessThatTheKernelRefusesReadsAllOnes) {
  card.without_mmap = {0};
  card.regions[0] = 16 * kRegionStride;  // beyond the end of the file
  const auto region = must(map(0, 12 * kRegionStride, 4096));
  EXPECT_EQ(region->read32(0), 0xFFFFFFFFU);
  EXPECT_EQ(region->read64(8), ~0ULL);
}

TEST_F(VfioFunction, BarsThatDoNotExistAndRangesOutsideAreRefused) {
  EXPECT_THAT(map(1, 0, 4096), FailsWith(ErrorCode::kNotFound, "no BAR1"));
  EXPECT_THAT(map(6, 0, 4096), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(map(0, 0x8000, 4096), FailsWith(ErrorCode::kOutOfRange));
  EXPECT_THAT(map(0, 0, 100), FailsWith(ErrorCode::kMisaligned));
}

TEST_F(VfioFunction, ConfigurationSpaceIsTheFunctions) {
  auto& config = vfio.pci();
  config.write16(kCard, pci::kCommand, 6);  // opens it
  EXPECT_EQ(card.load(kConfig, pci::kCommand) & 0xFFFF, 6U);
  card.store(kConfig, 0x100, 0x15020001, 4);
  EXPECT_EQ(config.read32(kCard, 0x100), 0x15020001U);
  EXPECT_EQ(config.read8(kCard, 0x102), 0x02U);
}

TEST_F(VfioFunction, ResetLeavesCommandZero) {
  vfio.pci().write16(kCard, pci::kCommand, 6);
  card.busy_resets = 3;
  EXPECT_THAT(vfio.reset_function(kCard), IsOk());
  EXPECT_EQ(card.resets, 1U);
  EXPECT_EQ(vfio.pci().read16(kCard, pci::kCommand), 0U);
}

TEST_F(VfioFunction, AFunctionWithoutAResetOfItsOwnSaysSo) {
  card.can_reset = false;
  EXPECT_THAT(vfio.reset_function(kCard), FailsWith(ErrorCode::kUnsupported, kCardName));
  EXPECT_EQ(card.resets, 0U);
}

TEST_F(VfioFunction, AFunctionThatDoesNotComeBackIsATimeout) {
  vfio.pci().write16(kCard, pci::kCommand, 6);
  card.store(kConfig, 0, 0xFFFF'FFFF, 4);
  EXPECT_THAT(vfio.reset_function(kCard), FailsWith(ErrorCode::kTimeout, "after a reset"));
}

TEST_F(VfioFunction, ALockThatIsNeverFreeIsNoEndlessWait) {
  card.busy_resets = ~0U;
  EXPECT_FALSE(vfio.reset_function(kCard));
}

}  // namespace
}  // namespace npu::test
