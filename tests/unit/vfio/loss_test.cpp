// SPDX-License-Identifier: Apache-2.0
// Functions that go away, or that the kernel wants back.
#include <thread>

#include "npu/abi/pci.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;

class VfioLoss : public testing::Test {
 protected:
  VfioLoss() {
    kernel.folder.write(std::string("bus/pci/devices/") + kCardName + "/config",
                        std::string("\xE5\x19\x10\xD1", 4));
    auto mapped = vfio.map_bar(kCard, 0, 0, 4096, platform::Caching::kUncached);
    EXPECT_THAT(mapped, IsOk());
    region = std::move(*mapped);
    vfio.pci().write16(kCard, pci::kCommand, 6);
    region->write32(0, 0x1234);
  }
  void say(unsigned index) { card.signal(card.messages.at(index)); }
  bool reads_all_ones() {
    const auto deadline = vfio.clock().now() + 10_s;
    while (region->read32(0) != 0xFFFFFFFF && vfio.clock().now() < deadline) {
      std::this_thread::yield();
    }
    return region->read32(0) == 0xFFFFFFFF && region->read64(8) == ~0ULL;
  }

  bool masters_the_bus() {
    const auto command = card.load(VFIO_PCI_CONFIG_REGION_INDEX, pci::kCommand);
    return (command & pci::kCommandBusMaster) != 0;
  }

  FakeKernel kernel;
  FakeVfioFunction& card = kernel.add(kCard, "7");
  VfioPlatform vfio{kernel.options(), kernel};
  std::unique_ptr<platform::MmioRegion> region;
};

TEST_F(VfioLoss, ARequestOfTheKernelIsARemoval) {
  say(VFIO_PCI_REQ_IRQ_INDEX);
  EXPECT_TRUE(reads_all_ones());
  region->write32(0, 0x5678);
  EXPECT_EQ(card.load(0, 0), 0x1234U) << "writes vanish";
  EXPECT_EQ(vfio.pci().read32(kCard, 0), 0xFFFFFFFFU);
  // The monitor says first that the function is lost.
  const auto deadline = vfio.clock().now() + 10_s;
  while (masters_the_bus() && vfio.clock().now() < deadline) std::this_thread::yield();
  EXPECT_FALSE(masters_the_bus()) << "no more DMA";
}

TEST_F(VfioLoss, AnUncorrectableErrorIsARemoval) {
  say(VFIO_PCI_ERR_IRQ_INDEX);
  EXPECT_TRUE(reads_all_ones());
  EXPECT_EQ(vfio.pci().read32(kCard, 0), 0xFFFFFFFFU);
}

TEST_F(VfioLoss, WhatIsLostCanBeOpenedAgainOnceItIsGivenBack) {
  say(VFIO_PCI_ERR_IRQ_INDEX);
  EXPECT_TRUE(reads_all_ones());
  const auto map = [&] { return vfio.map_bar(kCard, 0, 0, 4096, platform::Caching::kUncached); };
  EXPECT_THAT(map(), FailsWith(ErrorCode::kDeviceLost, "uncorrectable error"));
  EXPECT_EQ(card.opens, 1U);
  region.reset();
  const auto deadline = vfio.clock().now() + 10_s;  // the monitor may be looking at it
  while (vfio.pci().read32(kCard, 0) != 0xD11019E5U && vfio.clock().now() < deadline) {
    std::this_thread::yield();
  }
  const auto again = must(map());
  EXPECT_EQ(card.opens, 2U);
  EXPECT_EQ(again->read32(0), 0x1234U);
}

TEST_F(VfioLoss, PagesThatTheKernelTakesAwayReadAllOnes) {
  EXPECT_EQ(::ftruncate(card.file, 0), 0);
  EXPECT_EQ(region->read32(0), 0xFFFFFFFFU);
  region->write32(0, 0);
  EXPECT_EQ(region->read32(0), 0xFFFFFFFFU);
  EXPECT_EQ(vfio.pci().read32(kCard, 0), 0xFFFFFFFFU);
}

TEST_F(VfioLoss, OpeningAndClosingLeavesNoThreadBehind) {
  for (int i = 0; i < 20; ++i) {
    const VfioPlatform other(kernel.options(), kernel);
  }
  region.reset();
}

}  // namespace
}  // namespace npu::test
