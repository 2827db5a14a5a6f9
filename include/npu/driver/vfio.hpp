// SPDX-License-Identifier: Apache-2.0
// The platform interface on real hardware, through Linux VFIO. A program that uses a real card
// opens it and passes it to scan() and Device::open().
#pragma once

#include <memory>
#include <string>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

struct VfioOptions {
  std::string vfio_path = "/dev/vfio";  // container node "vfio" and group nodes
  std::string sysfs_path = "/sys";      // bus/pci/devices/...
  std::uint64_t first_bus_address =
      0x1'0000'0000;  // lowest bus address of DMA mappings, if the IOMMU allows it
};

// A function is opened at its first use. DMA memory counts against RLIMIT_MEMLOCK.
// kUnsupported: no VFIO container node, or no type 1 IOMMU.
// kPermissionDenied: the node may not be opened.
// Errors at the first use of a function:
// kPermissionDenied: it or its IOMMU group is not bound to vfio-pci. The context names the remedy.
// kBusy: another process uses it or its IOMMU group.
// kUnsupported: it has no IOMMU.
NPU_API Result<std::unique_ptr<platform::Platform>> open_vfio(const VfioOptions& options = {});

}  // namespace npu::driver
