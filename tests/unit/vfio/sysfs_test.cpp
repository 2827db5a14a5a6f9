// SPDX-License-Identifier: Apache-2.0
// What is known of functions without opening them.
#include "driver/vfio/sysfs.hpp"

#include "npu/abi/pci.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

namespace pci = abi::pci;
using driver::vfio::Sysfs;

constexpr char kDevice[] = "bus/pci/devices/0000:01:00.0";

// Header with a 32 KiB and a prefetchable 64 GiB BAR, both 64 bits wide; nothing behind `bytes`.
void write_config(const Folder& folder, std::size_t bytes) {
  std::string config(bytes, '\0');
  const auto put = [&config](std::size_t at, std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) config[at + i] = static_cast<char>(value >> 8 * i);
  };
  put(0, 0xD11019E5);
  put(pci::kBar0, 0xC0000004);
  put(pci::kBar0 + 8, 0x0000000C);
  put(pci::kBar0 + 12, 0x40);
  folder.write(std::string(kDevice) + "/config", config);
  folder.write(std::string(kDevice) + "/resource",
               "0x00000000c0000000 0x00000000c0007fff 0x0000000000140204\n"
               "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
               "0x0000004000000000 0x0000004fffffffff 0x000000000014220c\n"
               "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
}

TEST(Sysfs, FindsRootBusesAndTheirNumaNodes) {
  const Folder folder;
  folder.write("devices/pci0000:00/x", "");
  folder.write("devices/pci0000:80/x", "");
  folder.write("devices/virtual/x", "");
  folder.write("bus/pci/devices/0000:80:02.0/numa_node", "1\n");
  const auto bridges = Sysfs(folder.path()).host_bridges();
  ASSERT_EQ(bridges.size(), 2U);
  EXPECT_EQ(bridges[0].first_bus, 0);
  EXPECT_EQ(bridges[0].last_bus, 0x7F);
  EXPECT_EQ(bridges[0].numa_node, -1);
  EXPECT_EQ(bridges[1].first_bus, 0x80);
  EXPECT_EQ(bridges[1].numa_node, 1);
}

TEST(Sysfs, ReadsConfigurationSpaceAndTheIommuGroup) {
  const Folder folder;
  write_config(folder, 64);
  folder.link(std::string(kDevice) + "/iommu_group", "../../../kernel/iommu_groups/42");
  const Sysfs sysfs(folder.path());
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 0, 4), 0xD11019E5U);
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 2, 2), 0xD110U);
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 64, 2), std::nullopt);  // not without privileges
  EXPECT_EQ(sysfs.read_config({2, 0, 0}, 0, 4), std::nullopt);
  EXPECT_EQ(sysfs.iommu_group({1, 0, 0}).value_or(""), "42");
  EXPECT_THAT(sysfs.iommu_group({2, 0, 0}), FailsWith(ErrorCode::kNotFound));
}

TEST(Sysfs, BarSizesAreTheKernels) {
  const Folder folder;
  write_config(folder, 64);
  const auto sizes = Sysfs(folder.path()).bar_sizes({1, 0, 0});
  EXPECT_EQ(sizes, (std::array<Bytes, 6>{0x8000, 0, 64_GiB, 0, 0, 0}));
}

class Unopened : public testing::Test {
 protected:
  Unopened() { write_config(kernel.folder, 64); }
  std::uint32_t size_of(std::uint32_t offset) {
    auto& config = vfio.pci();
    const auto value = config.read32(kCard, offset);
    config.write32(kCard, offset, 0xFFFFFFFF);
    const auto mask = config.read32(kCard, offset);
    config.write32(kCard, offset, value);
    EXPECT_EQ(config.read32(kCard, offset), value);
    return mask;
  }

  FakeKernel kernel;
  FakeVfioFunction& card = kernel.add(kCard, "7");
  VfioPlatform vfio{kernel.options(), kernel};
};

TEST_F(Unopened, BarsAreSizedWithoutOpening) {
  EXPECT_EQ(size_of(pci::kBar0), 0xFFFF8004U);
  EXPECT_EQ(size_of(pci::kBar0 + 4), 0xFFFFFFFFU);
  EXPECT_EQ(size_of(pci::kBar0 + 8), 0x0000000CU);
  EXPECT_EQ(size_of(pci::kBar0 + 12), 0xFFFFFFF0U);
  EXPECT_EQ(size_of(pci::kBar0 + 16), 0U);
  EXPECT_EQ(card.opens, 0U);
}

TEST_F(Unopened, WhatTheUserMayNotSeeIsReadThroughTheFunction) {
  card.store(VFIO_PCI_CONFIG_REGION_INDEX, 0x40, 0x5001, 4);
  EXPECT_EQ(vfio.pci().read32(kCard, 0x40), 0x5001U);
  EXPECT_EQ(card.opens, 1U);
}

TEST_F(Unopened, AbsentFunctionsAreAllOnes) {
  EXPECT_EQ(vfio.pci().read32({5, 0, 0}, 0), 0xFFFFFFFFU);
  EXPECT_EQ(vfio.pci().read8({5, 0, 0}, 0x40), 0xFFU);
}

}  // namespace
}  // namespace npu::test
