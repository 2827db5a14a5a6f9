// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "npu/base/units.hpp"

namespace npu::model {

// The page of bus addresses: no PCIe request crosses a 4 KiB border (PCI Express Base Specification
// 4.0, 2.2.7), the IOMMU maps such pages, and rings and tables in host memory are aligned to them.
inline constexpr Bytes kBusPage = 4096;

}  // namespace npu::model
