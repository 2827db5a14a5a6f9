// SPDX-License-Identifier: Apache-2.0
// Functions that cannot be opened: the error says why, and what to do.
#include <cerrno>

#include "npu/driver/device.hpp"
#include "npu/driver/scan.hpp"
#include "npu/driver/vfio.hpp"
#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

class VfioBinding : public testing::Test {
 protected:
  auto open() { return vfio.open_vector(kCard, 0); }
  void bind(const std::string& name, const std::string& driver) {
    const auto link = "bus/pci/devices/" + name + "/driver";
    fs::remove(kernel.folder.path() + "/" + link);
    if (!driver.empty()) kernel.folder.link(link, "../../../bus/pci/drivers/" + driver);
  }

  FakeKernel kernel;
  FakeVfioFunction& card = kernel.add(kCard, "7");
  VfioPlatform vfio{kernel.options(), kernel};
};

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

TEST(Vfio, AnAbsentFunctionIsNotFound) {
  driver::VfioOptions options;
  options.sysfs_path = options.vfio_path = "/nonexistent";
  VfioPlatform platform(options);
  EXPECT_THAT(driver::Device::open(platform, {1, 0, 0}), FailsWith(ErrorCode::kNotFound));
  EXPECT_THAT(platform.allocate_dma({1, 0, 0}, 4096, 4096, platform::DmaDirection::kBidirectional),
              FailsWith(ErrorCode::kNotFound, "0000:01:00.0"));
  EXPECT_THAT(driver::scan(platform), FailsWith(ErrorCode::kBadDevice, "no PCI host bridge"));
}

TEST_F(VfioBinding, AFunctionOfAnotherDriverIsNamedWithIt) {
  kernel.open_group_errno = ENOENT;
  bind(kCardName, "npu_kernel_driver");
  EXPECT_THAT(open(), FailsWith(ErrorCode::kPermissionDenied, "is bound to npu_kernel_driver"));
  bind(kCardName, "");
  EXPECT_THAT(open(), FailsWith(ErrorCode::kPermissionDenied,
                                "0000:01:00.0 has no driver, not to vfio-pci: modprobe vfio-pci"));
}

TEST_F(VfioBinding, TheOthersOfItsGroupAreNamed) {
  kernel.viable = false;
  kernel.folder.write("kernel/iommu_groups/7/devices/0000:01:00.1", "");
  bind("0000:01:00.1", "snd_hda_intel");
  EXPECT_THAT(open(), FailsWith(ErrorCode::kPermissionDenied, "0000:01:00.1 (snd_hda_intel)"));
}

TEST_F(VfioBinding, AFunctionInUseIsBusy) {
  kernel.open_group_errno = EBUSY;
  EXPECT_THAT(open(), FailsWith(ErrorCode::kBusy, "another process uses 0000:01:00.0"));
}

TEST_F(VfioBinding, ANodeOfSomebodyElsesIsNamed) {
  kernel.open_group_errno = EACCES;
  EXPECT_THAT(open(), FailsWith(ErrorCode::kPermissionDenied, "/fake/7 has to be readable"));
}

TEST_F(VfioBinding, AFunctionWithoutAnIommuSaysHowToGetOne) {
  fs::remove(kernel.folder.path() + "/bus/pci/devices/" + kCardName + "/iommu_group");
  EXPECT_THAT(open(), FailsWith(ErrorCode::kUnsupported, "intel_iommu=on"));
}

TEST_F(VfioBinding, AnIommuWithoutInterruptRemappingSaysSo) {
  kernel.iommu_errno = EPERM;
  EXPECT_THAT(open(), FailsWith(ErrorCode::kPermissionDenied, "allow_unsafe_interrupts"));
}

TEST_F(VfioBinding, AFunctionThatIsGivenBackCanBeOpenedByOthers) {
  {
    VfioPlatform first(kernel.options(), kernel);
    EXPECT_THAT(first.open_vector(kCard, 0), IsOk());
  }
  EXPECT_THAT(open(), IsOk());
  EXPECT_EQ(card.opens, 2U);
}

}  // namespace
}  // namespace npu::test
