// SPDX-License-Identifier: Apache-2.0
// The VFIO backend as far as a machine without a card can: its time, tasks and configuration reads
// keep the contract, and everything that needs a card is an error value.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "driver/vfio/vfio_platform.hpp"
#include "npu/driver/device.hpp"
#include "npu/driver/vfio.hpp"
#include "tests/contract/contract_suite.hpp"
#include "tests/support/matchers.hpp"

namespace npu::test {
namespace {

namespace fs = std::filesystem;

// A sysfs and a /dev/vfio made of files, gone with the object.
class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / ("npu_vfio_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }

 private:
  fs::path path_;
};

class VfioEnvironment : public ContractEnvironment {
 public:
  VfioEnvironment() : platform_(driver::vfio::Container(), driver::vfio::Sysfs("/nonexistent")) {}
  platform::Platform& platform() override { return platform_; }
  std::optional<platform::Bdf> card() override { return std::nullopt; }
  platform::Bdf absent() override { return {9, 3, 1}; }
  void run(const std::function<void()>& body) override { body(); }
  bool is_exact() const override { return false; }

 private:
  driver::vfio::VfioPlatform platform_;
};

[[maybe_unused]] const bool kRegistered =
    register_contract_suite("Vfio", [] { return std::make_unique<VfioEnvironment>(); });

TEST(Vfio, WithoutTheContainerNodeIsUnsupported) {
  driver::VfioOptions options;
  options.vfio_path = "/nonexistent/vfio";
  EXPECT_THAT(driver::open_vfio(options), FailsWith(ErrorCode::kUnsupported, "/nonexistent/vfio"));
}

TEST(Vfio, AFileThatIsNoContainerIsUnsupported) {
  const Folder folder;
  folder.write("vfio", "");
  driver::VfioOptions options;
  options.vfio_path = folder.path();
  EXPECT_THAT(driver::open_vfio(options), FailsWith(ErrorCode::kUnsupported, "version"));
}

TEST(Vfio, ADeviceIsNotFoundWithoutAGroup) {
  driver::vfio::VfioPlatform platform(driver::vfio::Container(),
                                      driver::vfio::Sysfs("/nonexistent"));
  EXPECT_THAT(driver::Device::open(platform, {1, 0, 0}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(platform.allocate_dma({1, 0, 0}, 4096, 4096, platform::DmaDirection::kBidirectional),
              FailsWith(ErrorCode::kNotFound, "0000:01:00.0"));
  EXPECT_THAT(driver::scan(platform), FailsWith(ErrorCode::kBadDevice, "no PCI host bridge"));
}

TEST(Sysfs, FindsRootBusesAndTheirNumaNodes) {
  const Folder folder;
  folder.write("devices/pci0000:00/x", "");
  folder.write("devices/pci0000:80/x", "");
  folder.write("devices/virtual/x", "");
  folder.write("bus/pci/devices/0000:80:02.0/numa_node", "1\n");
  const auto bridges = driver::vfio::Sysfs(folder.path()).host_bridges();
  ASSERT_EQ(bridges.size(), 2U);
  EXPECT_EQ(bridges[0].first_bus, 0);
  EXPECT_EQ(bridges[0].last_bus, 0x7F);
  EXPECT_EQ(bridges[0].numa_node, -1);
  EXPECT_EQ(bridges[1].first_bus, 0x80);
  EXPECT_EQ(bridges[1].numa_node, 1);
}

TEST(Sysfs, ReadsConfigurationSpaceAndTheIommuGroup) {
  const Folder folder;
  folder.write("bus/pci/devices/0000:01:00.0/config", std::string("\xE5\x19\x10\xD1", 4));
  fs::create_directory_symlink("../../../kernel/iommu_groups/42",
                               folder.path() + "/bus/pci/devices/0000:01:00.0/iommu_group");
  const driver::vfio::Sysfs sysfs(folder.path());
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 0, 4), 0xD11019E5U);
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 2, 2), 0xD110U);
  EXPECT_EQ(sysfs.read_config({1, 0, 0}, 64, 2), 0xFFFFU);  // not readable without privileges
  EXPECT_EQ(sysfs.iommu_group({1, 0, 0}).value_or(""), "42");
  EXPECT_FALSE(sysfs.iommu_group({2, 0, 0}).has_value());
}

}  // namespace
}  // namespace npu::test
