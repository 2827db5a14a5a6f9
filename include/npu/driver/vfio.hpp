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
  std::uint64_t first_bus_address = 0x1'0000'0000;  // DMA mappings begin here, if they can
};

// kUnsupported: no VFIO container node or no type 1 IOMMU; kPermissionDenied: not allowed to open
// it. A function is opened at its first use, and may then be kPermissionDenied (it or its IOMMU
// group is not bound to vfio-pci; the context says what to do), kBusy (another process has it) or
// kUnsupported (no IOMMU). DMA memory counts against RLIMIT_MEMLOCK.
NPU_API Result<std::unique_ptr<platform::Platform>> open_vfio(const VfioOptions& options = {});

}  // namespace npu::driver
