// SPDX-License-Identifier: Apache-2.0
// The platform interface on real hardware, through Linux VFIO.
#pragma once

#include <memory>
#include <string>

#include "npu/base/result.hpp"
#include "npu/driver/export.hpp"
#include "npu/platform/platform.hpp"

namespace npu::driver {

struct VfioOptions {
  std::string vfio_path = "/dev/vfio";              // container node "vfio" and group nodes
  std::string sysfs_path = "/sys";                  // bus/pci/devices/...
  std::uint64_t first_bus_address = 0x1'0000'0000;  // DMA mappings are laid out from here
};

// kUnsupported: no VFIO container node or no type 1 IOMMU; kPermissionDenied: not allowed to open
// it. A function's group is opened at its first use.
NPU_API Result<std::unique_ptr<platform::Platform>> open_vfio(const VfioOptions& options = {});

}  // namespace npu::driver
